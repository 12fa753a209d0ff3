package chaos_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/history"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
)

// crew is processes that act as scribes, and all that they have written down.
type crew struct {
	t        testing.TB
	replicas []*replica.Replica
	scribes  int // of each process

	mu     sync.Mutex // guards what follows
	events map[[2]int]history.Event
	own    []history.Event // of the test itself
}

func newCrew(t testing.TB, replicas, scribes int) *crew {
	t.Helper()
	c := &crew{t: t, scribes: scribes}
	for range replicas {
		c.replicas = append(c.replicas, replica.Start(t))
	}
	return c
}

// write lets all of them write, does what is to happen meanwhile, and returns the
// history when all have ended. A process that was killed is replaced.
func (c *crew) write(w replica.Writing, meanwhile func()) []history.Event {
	c.t.Helper()
	c.events, c.own = map[[2]int]history.Event{}, nil
	var all sync.WaitGroup
	for i, r := range c.replicas {
		mine := w
		mine.Clients = nil
		for n := range c.scribes {
			mine.Clients = append(mine.Clients, i*c.scribes+n)
		}
		all.Go(func() {
			r.Ask(replica.Request{Write: &mine})
			if !c.listen(r) {
				r.Reap()
				c.replicas[i] = nil
			}
		})
	}
	meanwhile()
	all.Wait()
	for i, r := range c.replicas {
		if r == nil {
			c.replicas[i] = replica.Start(c.t)
		}
	}
	events := c.own
	for _, e := range c.events {
		if !e.Void {
			events = append(events, e)
		}
	}
	return events
}

// listen takes down what a replica says; it returns false if it has ended before it was
// done.
func (c *crew) listen(r *replica.Replica) bool {
	for {
		response, ok := r.Next()
		switch {
		case !ok:
			return false
		case response.Error != "":
			c.t.Errorf("a replica: %s", response.Error)
			return true
		case response.Event != nil:
			c.mu.Lock()
			c.events[[2]int{response.Event.Client, response.Number}] = *response.Event
			c.mu.Unlock()
		case response.Done:
			return true
		}
	}
}

// note does something to all circuits, and takes it down.
func (c *crew) note(what history.What, do func()) {
	e := history.Event{What: what, Client: len(c.replicas) * c.scribes, Call: replica.Clock()}
	do()
	e.Return = replica.Clock()
	c.own = append(c.own, e)
}

// tally is what came of all rounds.
type tally struct {
	commands, lost, circuits, unchecked int
}

// check looks at a round's history; the test fails if it cannot be explained.
func (s *tally) check(t *testing.T, what string, events []history.Event) {
	t.Helper()
	for _, f := range history.Check(events, long(30*time.Second, 5*time.Second)) {
		s.circuits++
		s.commands += f.Commands
		s.lost += f.Lost
		switch f.Verdict {
		case history.Broken:
			t.Errorf("%s: no order of commands explains these answers:\n%s", what, f.Story)
		case history.Unchecked:
			s.unchecked++
			s.commands -= f.Commands
			t.Logf("%s: NOT CHECKED, it took too long: %d commands, %d of them lost", what, f.Commands, f.Lost)
		default:
		}
	}
}

func (s *tally) String() string {
	return fmt.Sprintf("%d commands on %d circuits, %d of them without an answer; %d circuits not checked",
		s.commands, s.circuits, s.lost, s.unchecked)
}
