package resilienttest

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient"
)

// Recorder is an observer that keeps every event; [Events] returns them. Put a
// pointer to one into [resilient.Options].Observers, of one guard or of several.
//
// The zero value is ready to use. It is safe for concurrent use and never makes a
// call wait. It has no bound and forgets nothing: it is for a test, and not for a
// program that keeps running.
type Recorder struct {
	first kept // holds no event
	last  atomic.Pointer[kept]
}

// kept is an event in the list.
type kept struct {
	event resilient.Event
	next  atomic.Pointer[kept]
}

// Observe keeps the event.
func (r *Recorder) Observe(_ context.Context, event resilient.Event) {
	k := &kept{event: event}
	previous := r.last.Swap(k)
	if previous == nil {
		previous = &r.first
	}
	previous.next.Store(k)
}

// Events returns the recorder's events of the type E, in the order in which they
// came: those of one call in their own order, between those of others. Of the type
// [resilient.Event] are all of them. Every event is there whose Observe has
// returned. The slice is the caller's.
func Events[E resilient.Event](r *Recorder) []E {
	last := r.last.Load()
	if last == nil {
		return nil
	}
	var events []E
	for k := &r.first; k != last; {
		next := k.next.Load()
		if next == nil { // its Observe is between its two steps
			runtime.Gosched()
			continue
		}
		k = next
		if e, ok := k.event.(E); ok {
			events = append(events, e)
		}
	}
	return events
}
