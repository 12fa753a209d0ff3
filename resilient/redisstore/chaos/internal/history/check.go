package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Verdict is what came of checking one circuit.
type Verdict int

const (
	// Holds is that there is an order which explains every answer.
	Holds Verdict = iota
	// Broken is that there is none.
	Broken
	// Unchecked is that it took too long to find out: not a word on whether it holds.
	Unchecked
)

// Finding is one circuit's.
type Finding struct {
	Circuit  string
	Verdict  Verdict
	Commands int
	// Lost is how many of them were not answered.
	Lost int
	// Story is what happened, one line each, in the order in which it began.
	Story string
}

// Check looks, for each circuit, for an order of all that happened to it in which every
// answer is the right one. It gives each that much time.
func Check(events []Event, limit time.Duration) []Finding {
	var findings []Finding
	for _, name := range circuits(events) {
		history := of(name, events)
		f := Finding{Circuit: name, Story: story(history)}
		for _, e := range history {
			if e.What == Command {
				f.Commands++
				if e.Answer == nil {
					f.Lost++
				}
			}
		}
		switch porcupine.CheckOperationsTimeout(model(), operations(history), limit) {
		case porcupine.Ok:
			f.Verdict = Holds
		case porcupine.Illegal:
			f.Verdict = Broken
		default:
			f.Verdict = Unchecked
		}
		findings = append(findings, f)
	}
	return findings
}

func circuits(events []Event) []string {
	var names []string
	for _, e := range events {
		if e.What == Command {
			names = append(names, e.Circuit)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// of is what happened to one circuit: its own commands, and what happens to all.
func of(name string, events []Event) []Event {
	var history []Event
	for _, e := range events {
		if e.What != Command || e.Circuit == name {
			history = append(history, e)
		}
	}
	return history
}

func operations(history []Event) []porcupine.Operation {
	c := know(history)
	all := make([]porcupine.Operation, 0, len(history))
	for _, e := range history {
		o := &one{Event: e, circuit: c}
		if e.Answer != nil {
			o.earlier, _ = slices.BinarySearch(c.answered, e.Answer.Now)
			later, _ := slices.BinarySearch(c.answered, e.Answer.Now+1)
			o.same = later - o.earlier
		}
		all = append(all, porcupine.Operation{ClientId: e.Client, Input: o, Call: int64(e.Call), Return: int64(e.Return)})
	}
	return all
}

// know gathers what all events of a circuit tell together.
func know(history []Event) *circuit {
	c := &circuit{again: map[uint64]bool{}}
	sent := map[uint64]int{}
	for _, e := range history {
		if e.What != Command {
			continue
		}
		sent[e.Sent.ID]++
		if e.Answer != nil {
			c.answered = append(c.answered, e.Answer.Now)
			c.times = append(c.times, timesIn(*e.Answer)...)
		}
	}
	for id, times := range sent {
		c.again[id] = times > 1
	}
	slices.Sort(c.answered)
	slices.Sort(c.times)
	c.times = slices.Compact(c.times)
	return c
}

// timesIn are those at which something happened that the answer tells of.
func timesIn(a breaker.Answer) []time.Duration {
	r := a.Record
	times := []time.Duration{r.LastFailure, r.LastHalfOpen, r.Since, r.Ordered}
	for _, l := range r.Leases {
		times = append(times, l.End-l.Length)
	}
	return times
}

func story(history []Event) string {
	sorted := slices.Clone(history)
	slices.SortStableFunc(sorted, func(a, b Event) int { return cmp.Compare(a.Call, b.Call) })
	var text strings.Builder
	for _, e := range sorted {
		fmt.Fprintln(&text, e)
	}
	fmt.Fprintln(&text, doubt(history))
	return text.String()
}

// doubt is the first answer that is not what it would be had only those commands been
// carried out that were answered: where to look first.
func doubt(history []Event) string {
	c := know(history)
	s := state{}
	for _, e := range byAnswer(history) {
		o := one{Event: e, circuit: c}
		if e.What != Command {
			s = o.step(s)[0]
			continue
		}
		next, answer := s.record.Apply(e.Answer.Now, e.Sent)
		if !agree(*e.Answer, answer) {
			return fmt.Sprintf("first doubt: %v\nafter what was answered before it is to be: granted %v counted %v: %s",
				e, answer.Granted, answer.Counted, describe(answer.Record))
		}
		s.record = next
	}
	return "no doubt without those that were lost"
}

// byAnswer is what was answered, in the store's order, and what else has happened.
func byAnswer(history []Event) []Event {
	at := func(e Event) time.Duration {
		if e.Answer != nil {
			return e.Answer.Now
		}
		return e.Return
	}
	sorted := slices.DeleteFunc(slices.Clone(history), func(e Event) bool { return e.What == Command && e.Answer == nil })
	slices.SortStableFunc(sorted, func(a, b Event) int { return cmp.Compare(at(a), at(b)) })
	return sorted
}
