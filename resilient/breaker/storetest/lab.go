package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

const (
	// short is what must be over once a check has waited for it.
	short = 2 * time.Millisecond
	// long is what must not be over in any check.
	long = time.Hour
	// patience is after how long something that may take its time counts as not done.
	patience = 10 * time.Second
)

// lab is where one check is made.
type lab struct {
	Harness
	clients []breaker.Store
	prefix  string // of the names of its circuits
	made    int    // circuits

	mu       sync.Mutex
	findings []error
	notes    []string
}

func newLab(name string, h Harness) *lab {
	return &lab{Harness: h, clients: h.open(), prefix: fmt.Sprintf("storetest/%s/%x", name, rand.Uint64())}
}

// stop is what ends a check that cannot go on.
type stop struct{}

func (l *lab) run(check func(*lab)) {
	defer func() {
		if value := recover(); value != nil && value != (stop{}) {
			panic(value)
		}
	}()
	check(l)
}

// errorf notes a finding.
func (l *lab) errorf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findings = append(l.findings, fmt.Errorf(format, args...))
}

// fatalf notes a finding and ends the check. It belongs to the check's own goroutine.
func (l *lab) fatalf(format string, args ...any) {
	l.errorf(format, args...)
	panic(stop{})
}

// must ends the check unless ok.
func (l *lab) must(ok bool, format string, args ...any) {
	if !ok {
		l.fatalf(format, args...)
	}
}

// notef tells what was not checked.
func (l *lab) notef(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// circuit returns one that the store knows nothing of.
func (l *lab) circuit() *twin {
	l.made++
	return l.named(fmt.Sprintf("%s/%d", l.prefix, l.made))
}

func (l *lab) named(name string) *twin { return &twin{lab: l, name: name} }

// newID is an ID as circuits make them: any of 64 bits, and not 0.
func newID() uint64 { return rand.Uint64() | 1 }

// send is one command through one of the clients.
func (l *lab) send(client int, circuit string, c breaker.Command) (breaker.Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return l.clients[client%len(l.clients)].Do(ctx, circuit, c)
}

// eventually waits, in real time or the bubble's, until it is so.
func eventually(so func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if so() {
			return true
		}
	}
	return so()
}

// settings are those that the checks start from: three failures open for an hour.
func settings() breaker.Settings {
	s := breaker.DefaultSettings()
	s.FailureThreshold = 3
	s.RecoveryTimeout = long
	s.Cooldown = 0
	return s
}

// soon are the same, of a replica whose policy wants to recover at once. The open time
// is derived from the settings of whoever asks, so a check waits with these only.
func soon(s breaker.Settings) breaker.Settings {
	s.RecoveryTimeout = short
	return s
}
