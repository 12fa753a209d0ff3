package toolguard

import (
	"cmp"
	"slices"
	"time"
)

// Withheld is a tool that the model is not to have in a turn. It is a value.
type Withheld struct {
	// Tool is its name.
	Tool string
	// Reason is why.
	Reason Reason
	// Until is when it may be back; zero if nobody knows.
	Until time.Time
	// Listed says that it stays in the list nevertheless, since too much would be
	// missing there (see [Options].MaxWithheldShare). Its calls are refused.
	Listed bool
}

// limit lets tools stay in the list where too many would be missing, and makes what is
// withheld known by name.
func (t *Turn) limit() {
	if t.withheld == nil {
		return
	}
	most := int(t.guard.plan.MaxWithheldShare*float64(len(t.names)) + 1e-9) // 0.3 of 10 is 3, whatever floats say
	times := t.times()
	if over := sum(times) - most; over > 0 {
		order := make([]*Withheld, len(t.withheld))
		for i := range t.withheld {
			order[i] = &t.withheld[i]
		}
		slices.SortStableFunc(order, func(a, b *Withheld) int {
			return cmp.Or(compareBool(a.Until.IsZero(), b.Until.IsZero()), a.Until.Compare(b.Until)) // what nobody knows comes last
		})
		for _, w := range order {
			if over <= 0 {
				break
			}
			w.Listed = true
			over -= times[w.Tool]
		}
	}
	t.byName = make(map[string]*Withheld, len(t.withheld))
	for i := range t.withheld {
		t.byName[t.withheld[i].Tool] = &t.withheld[i]
	}
}

// times is how often what is withheld is in the list: a name may be there twice.
func (t *Turn) times() map[string]int {
	times := make(map[string]int, len(t.withheld))
	for _, w := range t.withheld {
		times[w.Tool] = 0
	}
	for _, name := range t.names {
		if _, is := times[name]; is {
			times[name]++
		}
	}
	return times
}

func sum(times map[string]int) (n int) {
	for _, one := range times {
		n += one
	}
	return n
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// Withheld returns what the model is not to have in this turn, in the order of the
// turn's names. The slice is the caller's.
func (t *Turn) Withheld() []Withheld {
	if t == nil {
		return nil
	}
	return slices.Clone(t.withheld)
}

// hides reports whether a tool is missing in the list, or masked.
func (t *Turn) hides(name string) bool {
	w := t.byName[name]
	return w != nil && !w.Listed
}

// Allowed returns the names that the model may choose, in their order: all but those
// that are withheld and not Listed. That is for [Mask], where the list does not say it.
// The slice is the caller's.
func (t *Turn) Allowed() []string {
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.names), t.hides)
}

// Filter returns the tools that the model is to have in this turn: a new slice with the
// same elements in the same order, without those that are withheld. The input stays as it
// is, since others may have it. If nothing is to be left out, also because the mode is
// not [Withhold], the input itself comes back. nameOf says which name a tool had when the
// turn was made. A nil turn leaves out nothing.
func Filter[T any](turn *Turn, tools []T, nameOf func(T) string) []T {
	if !turn.filters() {
		return tools
	}
	first := slices.IndexFunc(tools, func(tool T) bool { return turn.hides(nameOf(tool)) })
	if first < 0 {
		return tools
	}
	left := make([]T, 0, len(tools)-1)
	left = append(left, tools[:first]...)
	for _, tool := range tools[first+1:] {
		if !turn.hides(nameOf(tool)) {
			left = append(left, tool)
		}
	}
	return left
}

func (t *Turn) filters() bool { return t != nil && t.byName != nil && t.guard.plan.Mode == Withhold }

// Delta is what has changed in a list from one turn to another.
type Delta struct {
	// Gone are the tools that are withheld now, and were not.
	Gone []string
	// Back are those that were withheld, and are not any more.
	Back []string
}

// Changed reports whether there is anything in it.
func (d Delta) Changed() bool { return len(d.Gone) > 0 || len(d.Back) > 0 }

// Delta compares with an earlier turn, nil for none: what is withheld, of the tools that
// exist in this one. What has been registered or taken away meanwhile is not in it.
func (t *Turn) Delta(previous *Turn) (d Delta) {
	if t == nil {
		return d
	}
	for _, name := range t.names {
		was, is := previous != nil && previous.hides(name), t.hides(name)
		switch {
		case is && !was:
			d.Gone = append(d.Gone, name)
		case was && !is:
			d.Back = append(d.Back, name)
		}
	}
	return d
}

// Others returns what the model may call in this turn instead of a tool, in the order of
// the turn's names and each once: what it withholds is not in it, nor what has turned out
// to be broken since, nor, where the list shows all, what was broken before. The slice is
// the caller's.
func (t *Turn) Others(tool string) (others []string) {
	if t == nil {
		return nil
	}
	broken := t.broken()
	seen := map[string]bool{tool: true, "": true}
	for _, name := range t.names {
		if !seen[name] && t.byName[name] == nil && !broken(name) {
			others = append(others, name)
		}
		seen[name] = true
	}
	return others
}

// unwatched are the tools that no budget is for.
func (t *Turn) unwatched() []string {
	return slices.DeleteFunc(t.Others(""), t.guard.plan.watches)
}

// broken reports of tools whether a call would be refused now, as far as is known.
func (t *Turn) broken() func(name string) bool {
	if !t.watched {
		return func(string) bool { return false }
	}
	now := t.guard.now()
	ts := t.guard.shelf.of(t.key, now)
	return func(name string) bool {
		if ts == nil || !t.guard.plan.watches(name) {
			return false
		}
		one := ts.get(name)
		return one != nil && one.rejects(now) && !t.mayTry(one)
	}
}

// mayTry reports whether the turn has the probe of a tool, and has not used it.
func (t *Turn) mayTry(one *tool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.claims, func(c claim) bool { return c.tool == one && !c.used })
}

// exists reports whether there is a tool of that name in this turn.
func (t *Turn) exists(name string) bool { return slices.Contains(t.names, name) }
