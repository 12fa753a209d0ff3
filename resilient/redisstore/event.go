package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/sanitize"
)

// EventKind is what has happened.
type EventKind uint8

const (
	// Lost says that Redis cannot be used: it does not answer, or takes no writes. The
	// circuits go on by themselves. It is told once, until Redis is back.
	Lost EventKind = iota
	// Back says that Redis can be used again.
	Back
	// Deaf says that Redis answers, but that its news do not arrive: views are read
	// again as they age. It is told once, until the news arrive again.
	Deaf
	// Hearing says that the news arrive again.
	Hearing
	// Clamped says that the times of a circuit were found to lie ahead of the clock of
	// Redis, and count as now: some server's clock is wrong, or was.
	Clamped
	// Garbled says that what was stored of a circuit makes no sense. A process that
	// knows better writes it anew.
	Garbled
	// Newer says that a later version of this package has written a circuit. It is left
	// alone, and this process is without a shared view of it until it is updated too.
	Newer
)

var eventKinds = [...]string{"lost", "back", "deaf", "hearing", "clamped", "garbled", "newer"}

// String returns the kind's name in lower case.
func (k EventKind) String() string {
	if int(k) >= len(eventKinds) {
		return "unknown"
	}
	return eventKinds[k]
}

// Event is something that an operator wants to know. It is a value.
type Event struct {
	// Kind is what has happened.
	Kind EventKind
	// Circuit is the one that it is about, with secrets taken out; empty if all.
	Circuit string
	// Err is why; nil if there is no reason to tell. Its text has secrets taken out.
	Err error
}

// quiet is how long the events about one circuit are held back after one.
const quiet = time.Minute

// events tells what happens, but not the same thing again and again.
type events struct {
	options *Options

	mu   sync.Mutex // guards told; never held while foreign code runs
	told map[Event]time.Time
}

// tell passes an event on.
func (e *events) tell(event Event) {
	level, text := slog.LevelWarn, texts[event.Kind]
	if event.Kind == Back || event.Kind == Hearing {
		level = slog.LevelInfo
	}
	var attrs []slog.Attr
	if event.Circuit != "" {
		attrs = append(attrs, slog.String("circuit", event.Circuit))
	}
	if event.Err != nil {
		attrs = append(attrs, slog.String("error", event.Err.Error()))
	}
	e.logger().LogAttrs(context.Background(), level, text, attrs...)
	e.call(event)
}

var texts = [...]string{
	Lost:    "redisstore: Redis cannot be used: circuits go on by themselves",
	Back:    "redisstore: Redis is back: circuits are shared again",
	Deaf:    "redisstore: no news from Redis: circuits are read again as they age",
	Hearing: "redisstore: news from Redis again",
	Clamped: "redisstore: a circuit's times lie ahead of the clock of Redis: look at the servers' clocks",
	Garbled: "redisstore: a circuit's stored state makes no sense: it is written anew",
	Newer:   "redisstore: a circuit was written by a later version: update this program",
}

// call gives the event to the listener. What that panics with is logged, and that is all.
func (e *events) call(event Event) {
	if e.options.OnEvent == nil {
		return
	}
	defer func() {
		if value := recover(); value != nil {
			e.complain("OnEvent", value)
		}
	}()
	e.options.OnEvent(event)
}

func (e *events) complain(who string, value any) {
	e.logger().Error("redisstore: "+who+" panicked", slog.String("panic", sanitize.Message(fmt.Sprint(value))))
}

func (e *events) logger() *slog.Logger {
	if e.options.Logger != nil {
		return e.options.Logger
	}
	return slog.Default()
}

// mostTold bounds what is remembered of what was told. Beyond it all is forgotten: an
// event too many is better than a leak.
const mostTold = 1000

// about tells of a circuit, unless that was told of it a short while ago.
func (e *events) about(kind EventKind, circuit string, err error) {
	event, now := Event{Kind: kind, Circuit: sanitize.Message(circuit)}, time.Now()
	e.mu.Lock()
	last, again := e.told[event]
	if again = again && now.Sub(last) < quiet; !again {
		if len(e.told) >= mostTold {
			clear(e.told)
		}
		e.told[event] = now
	}
	e.mu.Unlock()
	if again {
		return
	}
	event.Err = err
	e.tell(event)
}
