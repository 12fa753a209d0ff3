package einoguard

import (
	"context"
	"sync"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// run is one run of an agent, or what goes on after an interrupt. It has the turn of the
// last request to the model. It is safe for concurrent use.
type run struct {
	mu   sync.Mutex
	turn *turn
}

// turn is what one request to the model is given, until the calls that its answer asks
// for have begun.
type turn struct {
	*toolguard.Turn
	// infos are those of the tools in it, by name: all but the ones that are not guarded.
	infos map[string]*toolInfo
	// forced is the tool that the request insists on: it is neither withheld nor watched.
	forced string
	stop   func() bool

	mu      sync.Mutex
	awaited int // calls of the answer that have not begun; -1 while there is none
}

// open makes t the turn of the run. That of the request before is over.
func (r *run) open(ctx context.Context, t *turn) {
	t.awaited = -1
	t.stop = context.AfterFunc(ctx, t.Turn.Close)
	r.mu.Lock()
	before := r.turn
	r.turn = t
	r.mu.Unlock()
	before.close()
}

func (r *run) current() *turn {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turn
}

// close gives back what the model has not used.
func (t *turn) close() {
	if t == nil {
		return
	}
	t.stop()
	t.Turn.Close()
}

// answered says what the model's answer calls, by the tools' own names. When all of these
// calls have begun, nobody needs the turn's probes any more.
func (t *turn) answered(names []string) {
	if t == nil {
		return
	}
	calls := 0
	for _, name := range names {
		if t.infos[name] != nil {
			calls++
		}
	}
	t.mu.Lock()
	t.awaited = calls
	t.mu.Unlock()
	if calls == 0 {
		t.close()
	}
}

// begin begins a call of the answer.
func (t *turn) begin(ctx context.Context, name string) (*toolguard.Permit, error) {
	defer t.begun()
	return t.Turn.Begin(ctx, name)
}

func (t *turn) begun() {
	t.mu.Lock()
	if t.awaited > 0 {
		t.awaited--
	}
	last := t.awaited == 0
	t.mu.Unlock()
	if last {
		t.close()
	}
}
