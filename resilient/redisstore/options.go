package redisstore

import (
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Options say how a [Store] uses Redis. A nil *Options is valid, and so is the zero
// value: each field that is zero has the default that it names.
type Options struct {
	// Namespace is what the keys begin with, and the name of the channel: "stoic".
	// Fleets that are to share nothing on one Redis have different ones. It consists of
	// letters, digits, dots, underscores and hyphens.
	Namespace string
	// Timeout is how long a command may take, be it dialing or waiting for a free
	// connection: 50 ms. No attempt waits longer before it is made, nor to report what
	// came of it. At least 1 ms and at most 10 s.
	Timeout time.Duration
	// MaxViewAge is how old a process's view of a circuit may become before it is read
	// again, while no news arrive: 1 s. At least 10 ms and at most 1 min. It is also
	// how often [Store.Run] looks whether they still would.
	MaxViewAge time.Duration
	// Retention is how long a circuit is kept after all that runs in it has ended: 7
	// days. It must be longer than the longest call; less than 10 min is refused.
	Retention time.Duration
	// Strict writes every outcome, so that the count of failures is exact: one command
	// for each call.
	Strict bool
	// Logger takes a record of each [Event]. Nil means slog.Default(), as it is at that
	// moment.
	Logger *slog.Logger
	// OnEvent is told of each [Event], from any goroutine, with no lock held. It returns
	// soon; what it panics with is logged and goes no further.
	OnEvent func(Event)
}

// leastRetention is longer than the longest guarded call, with its lease.
const leastRetention = 10 * time.Minute

// complete returns a copy in which every field has its value, or an error that names
// each one out of its range.
func (o *Options) complete() (Options, error) {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Namespace == "" {
		full.Namespace = "stoic"
	}
	defaults := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	defaults(&full.Timeout, 50*time.Millisecond)
	defaults(&full.MaxViewAge, time.Second)
	defaults(&full.Retention, 7*24*time.Hour)

	var faults []string
	within := func(name string, d, least, most time.Duration) {
		if d < least || d > most {
			faults = append(faults, fmt.Sprintf("%s is %v, want %v … %v", name, d, least, most))
		}
	}
	within("Timeout", full.Timeout, time.Millisecond, 10*time.Second)
	within("MaxViewAge", full.MaxViewAge, 10*time.Millisecond, time.Minute)
	within("Retention", full.Retention, leastRetention, 365*24*time.Hour)
	if strings.Trim(full.Namespace, namespaceCharacters) != "" || len(full.Namespace) > 100 {
		faults = append(faults, "Namespace is not made of at most 100 letters, digits, dots, underscores and hyphens")
	}
	if len(faults) > 0 {
		return Options{}, fmt.Errorf("redisstore: Options: %s", strings.Join(faults, "; "))
	}
	return full, nil
}

const namespaceCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
