package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// journal keeps what is logged, so that scenarios can look at it.
type journal struct {
	also io.Writer // where it goes besides, if not nil

	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes a record.
func (j *journal) Write(record []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.also != nil {
		_, _ = j.also.Write(record)
	}
	return j.text.Write(record)
}

func (j *journal) length() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Len()
}

// since returns what was logged after length was that.
func (j *journal) since(length int) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text.Bytes()[length:])
}

// plain returns a logger that writes down whatever it is given.
func (j *journal) plain() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// sanitized returns a logger as an application should have it: errors come from everywhere, and it takes the secrets
// out of all of them.
func (j *journal) sanitized() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: sanitize.ReplaceAttr}
	return slog.New(slog.NewTextHandler(j, options))
}

// recorder is an observer, as a program's metrics would be one, and the view on the log of one scenario.
type recorder struct {
	logs *journal
	from int

	mu      sync.Mutex
	texts   []string // of the errors in events
	onRetry func()   // called once, on the way of the call, before the wait
}

func newRecorder(logs *journal) *recorder { return &recorder{logs: logs, from: logs.length()} }

// Observe notes the errors that events carry.
func (r *recorder) Observe(_ context.Context, event resilient.Event) {
	switch e := event.(type) {
	case resilient.AttemptDone:
		r.note(e.Err)
	case resilient.CallDone:
		r.note(e.Err)
	case resilient.CallRejected:
		r.note(e.Rejection)
	case resilient.CircuitChanged:
		r.note(e.Cause)
	case resilient.RetryScheduled:
		r.note(e.Err)
		r.mu.Lock()
		then := r.onRetry
		r.onRetry = nil
		r.mu.Unlock()
		if then != nil {
			then()
		}
	}
}

func (r *recorder) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, err.Error(), fmt.Sprintf("%+v", err))
}

// atRetry sets what is done when the next retry is scheduled.
func (r *recorder) atRetry(then func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onRetry = then
}

// eventTexts returns the text of every error that an event carried.
func (r *recorder) eventTexts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.texts...)
}

// logged returns everything that was logged in this scenario.
func (r *recorder) logged() string { return r.logs.since(r.from) }

// retries counts the retries in the log.
func (r *recorder) retries() int { return strings.Count(r.logged(), `msg="retry scheduled"`) }

// circuit returns the changes of a service's circuit in the log, in their order.
func (r *recorder) circuit(service string) string {
	var states []string
	for line := range strings.Lines(r.logged()) {
		if !strings.Contains(line, " service="+service+" ") {
			continue
		}
		for _, state := range []string{"opened", "half-open", "closed"} {
			if strings.Contains(line, `msg="circuit `+state+`"`) {
				states = append(states, state)
			}
		}
	}
	return strings.Join(states, " ")
}
