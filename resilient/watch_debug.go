//go:build stoicdebug

package resilient

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
)

// watch logs where a permit was acquired that is garbage before it was settled.
type watch struct{ settled *atomic.Bool }

func (w *watch) begin(p *Permit) {
	w.settled = new(atomic.Bool)
	g, settled, site := p.guard, w.settled, "unknown"
	if _, file, line, ok := runtime.Caller(2); ok { // the caller of Guard.Acquire
		site = fmt.Sprintf("%s:%d", file, line)
	}
	runtime.AddCleanup(p, func(site string) {
		if !settled.Load() {
			g.journal().Out().Error("permit forgotten", slog.String("service", g.Name()), slog.String("acquired_at", site))
		}
	}, site)
}

func (w *watch) end() { w.settled.Store(true) }
