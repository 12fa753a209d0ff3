package redisstore_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

func quietLogger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// oddNames hold what separates things elsewhere (P119, A41).
var oddNames = []string{
	"", "plan_service", "a:b{c}", "{", "}", "{}", "}{", "a}b{c}", "two\nlines", "tab\tquote\"'\\", "ünïcode ✓ 日本", "nul\x00", "bad \xff\xfe utf-8",
	"1:2,3:4", strings.Repeat("long", 100),
}

// fields is a record as it is to be stored; nil if there is nothing to store.
func fields(r breaker.Record) map[string]string {
	number := func(n int) string { return strconv.Itoa(n) }
	micro := func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Microsecond), 10) }
	span := func(owner uint64, end, length time.Duration) string {
		return fmt.Sprintf("%d:%s:%s", owner, micro(end), micro(length))
	}
	var leases, votes, seen []string
	for _, l := range r.Leases {
		leases = append(leases, span(l.Token, l.End, l.Length))
	}
	for _, v := range r.Votes {
		votes = append(votes, span(v.Replica, v.End, v.Length))
	}
	for _, id := range r.Seen {
		seen = append(seen, strconv.FormatUint(id, 10))
	}
	reset := "0"
	if r.Order.Reset {
		reset = "1"
	}
	all := map[string]string{
		"v": "1", "round": strconv.FormatUint(r.Round, 10), "state": number(int(r.Beneath)), "force": number(int(r.Force)),
		"generation": number(r.Generation), "last_failure": micro(r.LastFailure), "last_half_open": micro(r.LastHalfOpen),
		"since": micro(r.Since), "successes": number(r.Successes), "force_until": micro(r.ForceUntil),
		"limit": number(r.Limit), "needed": number(r.Needed), "failures": number(r.Failures),
		"order_force": number(int(r.Order.Force)), "order_reset": reset, "order_for": micro(r.Order.For),
		"ordered": micro(r.Ordered), "hold": micro(r.Hold), "cause": r.Cause, "author": r.Order.Author, "reason": r.Order.Reason,
		"leases": strings.Join(leases, ","), "votes": strings.Join(votes, ","), "seen": strings.Join(seen, ","),
	}
	for name, value := range all {
		if name != "v" && value != "0" && value != "" {
			return all
		}
	}
	return nil
}

// pass lets time go by in a record: all of its times are longer ago. A negative one puts
// them ahead, as a clock does that is set back.
func pass(r breaker.Record, d time.Duration) breaker.Record {
	ago := func(t *time.Duration) {
		if *t != 0 {
			*t -= d
		}
	}
	for _, t := range []*time.Duration{&r.LastFailure, &r.LastHalfOpen, &r.Since, &r.ForceUntil, &r.Ordered} {
		ago(t)
	}
	r.Leases, r.Votes = slices.Clone(r.Leases), slices.Clone(r.Votes)
	for i := range r.Leases {
		ago(&r.Leases[i].End)
	}
	for i := range r.Votes {
		ago(&r.Votes[i].End)
	}
	return r
}

// told is what an answer tells of a record.
func told(r breaker.Record) breaker.Record {
	r.Votes, r.Seen = nil, nil
	if len(r.Leases) == 0 {
		r.Leases = nil
	}
	return r
}

// lockstep runs Redis and breaker.Record side by side. The model is given the time at
// which Redis says that it has carried a command out.
type lockstep struct {
	*rapid.T
	server   *server
	store    *redisstore.Store
	name     string
	record   breaker.Record
	settings []breaker.Settings
	sent     []breaker.Command
	rounds   []uint64
	tokens   []uint64
}

func anySettings(t *rapid.T) breaker.Settings {
	s := breaker.DefaultSettings()
	s.Enabled = rapid.IntRange(0, 9).Draw(t, "enabled") > 0
	s.FailureThreshold = rapid.IntRange(0, 4).Draw(t, "threshold")
	s.RecoveryTimeout = time.Duration(rapid.IntRange(1, 5000).Draw(t, "recovery")) * time.Millisecond
	s.Cooldown = time.Duration(rapid.IntRange(0, 5000).Draw(t, "cooldown")) * time.Millisecond
	s.MaxProbes = rapid.IntRange(1, 3).Draw(t, "probes")
	s.SuccessesToClose = rapid.IntRange(1, 3).Draw(t, "needed")
	s.RecoveryMultiplier = rapid.SampledFrom([]float64{1, 1.5, 2, 1.7, 100}).Draw(t, "multiplier")
	s.MaxRecoveryTimeout = s.RecoveryTimeout * time.Duration(rapid.IntRange(1, 20).Draw(t, "longest"))
	s.MinReporters = rapid.IntRange(1, 3).Draw(t, "reporters")
	return s
}

var anyText = rapid.SampledFrom([]string{"", "down", "i/o timeout", "a:b,c\n\x00ü\xff"})

func (l *lockstep) newID() uint64 {
	return rapid.OneOf(rapid.Uint64Range(1, 1<<20), rapid.Uint64Min(1)).Draw(l.T, "id")
}

// round is mostly the present one.
func (l *lockstep) round() uint64 {
	if len(l.rounds) == 0 || rapid.IntRange(0, 4).Draw(l.T, "late") > 0 {
		return l.record.Round
	}
	return rapid.SampledFrom(append(l.rounds, 0, 1, 1<<63, 1<<64-1)).Draw(l.T, "round")
}

func (l *lockstep) token() uint64 {
	if len(l.tokens) == 0 || rapid.IntRange(0, 4).Draw(l.T, "unknown") == 0 {
		return rapid.SampledFrom([]uint64{0, 7}).Draw(l.T, "no token")
	}
	return rapid.SampledFrom(l.tokens).Draw(l.T, "token")
}

// hold is how long a failing dependency asks to be left alone: mostly it does not.
func (l *lockstep) hold() time.Duration {
	return rapid.SampledFrom([]time.Duration{0, 0, 0, 0, -1, 1, time.Second, time.Hour}).Draw(l.T, "hold")
}

func (l *lockstep) command() breaker.Command {
	if len(l.sent) > 0 && rapid.IntRange(0, 5).Draw(l.T, "again") == 0 {
		return rapid.SampledFrom(l.sent).Draw(l.T, "repeated")
	}
	kind := rapid.SampledFrom([]breaker.Kind{
		breaker.Read, breaker.Acquire, breaker.Acquire, breaker.Settle, breaker.Settle, breaker.Settle, breaker.Settle,
		breaker.Vote, breaker.Operate, breaker.Rebuild,
	}).Draw(l.T, "kind")
	c := breaker.Command{Kind: kind, ID: l.newID(), Settings: rapid.SampledFrom(l.settings).Draw(l.T, "client")}
	switch kind {
	case breaker.Acquire:
		c.Lease = rapid.SampledFrom([]time.Duration{
			0, 1, time.Millisecond, time.Second + 7*time.Microsecond + 3, time.Hour, 1<<63 - 1,
		}).Draw(l.T, "lease")
	case breaker.Settle:
		c.Round, c.Token = l.round(), l.token()
		if c.Token != 0 {
			c.ID = c.Token
		}
		c.Outcome = breaker.Outcome(rapid.IntRange(0, 3).Draw(l.T, "outcome"))
		c.Restart, c.Cause = rapid.Bool().Draw(l.T, "restart"), anyText.Draw(l.T, "cause")
		c.Hold = l.hold()
	case breaker.Vote:
		c.Round, c.Replica = l.round(), rapid.Uint64Range(1, 3).Draw(l.T, "replica")
		c.Failures, c.Cause = rapid.IntRange(0, 9).Draw(l.T, "failures"), anyText.Draw(l.T, "cause")
		c.Hold = l.hold()
	case breaker.Operate:
		c.Order = breaker.Order{Author: anyText.Draw(l.T, "author"), Reason: anyText.Draw(l.T, "reason")}
		if c.Order.Reset = rapid.IntRange(0, 3).Draw(l.T, "reset") == 0; !c.Order.Reset {
			c.Order.Force = breaker.Force(rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(l.T, "force"))
			c.Order.For = rapid.SampledFrom([]time.Duration{time.Second, time.Minute, breaker.LongestOrder}).Draw(l.T, "for")
		}
	case breaker.Rebuild: // of what makes sense: it changes nothing
		c.View.Beneath, c.Failures = breaker.Open, 3
	}
	return c
}

// carryOut gives one command to both.
func (l *lockstep) carryOut() {
	c := l.command()
	l.sent = append(l.sent, c)
	got, err := l.store.Do(context.Background(), l.name, c)
	require.NoError(l, err)
	next, want := l.record.Apply(got.Now, c)
	require.Equal(l, want.Granted, got.Granted, "granted %+v", c)
	require.Equal(l, want.Counted, got.Counted, "counted %+v", c)
	require.Equal(l, want.Clamped, got.Clamped, "clamped %+v", c)
	require.Equal(l, told(next), told(got.Record), "after %+v", c)
	l.record = next
	l.rounds = append(l.rounds, next.Round)
	for _, lease := range next.Leases {
		if !slices.Contains(l.tokens, lease.Token) {
			l.tokens = append(l.tokens, lease.Token)
		}
	}
}

func (l *lockstep) key() string { return keyOf(l.name) }

// keyOf is where a circuit is kept, as the package's documentation has it.
func keyOf(name string) string {
	if name == "" || name[0] == '}' {
		return "stoic::{-" + name + "}"
	}
	return "stoic:{" + name + "}"
}

// timePasses in the record and in what Redis has of it.
func (l *lockstep) timePasses() {
	d := time.Duration(rapid.IntRange(1, 8000).Draw(l.T, "ms")) * time.Millisecond
	if rapid.IntRange(0, 9).Draw(l.T, "set back") == 0 {
		d = -d
	}
	l.record = pass(l.record, d)
	if stored := fields(l.record); stored != nil {
		require.NoError(l, l.server.client.HSet(context.Background(), l.key(), stored).Err())
	}
}

func (l *lockstep) vanish() {
	require.NoError(l, l.server.client.Del(context.Background(), l.key()).Err())
	l.record = breaker.Record{}
}

// same holds what is stored against the model, field by field.
func (l *lockstep) same() {
	stored, err := l.server.client.HGetAll(context.Background(), l.key()).Result()
	require.NoError(l, err)
	if want := fields(l.record); want == nil {
		require.Empty(l, stored)
	} else {
		require.Equal(l, want, stored)
	}
}

// TestLockstep holds the scripts to breaker.Record: long random histories of all kinds of
// commands, from clients with different policies, repeated, late, and with odd names
// (P113, P115, P117–P119, A10, A11, A14, A15, A33, A35, A37, A46).
func TestLockstep(t *testing.T) {
	server := startRedis(t)
	store := server.store(nil)
	rapid.Check(t, func(t *rapid.T) {
		l := &lockstep{T: t, server: server, store: store, name: rapid.SampledFrom(oddNames).Draw(t, "name")}
		l.vanish()
		for range rapid.IntRange(1, 3).Draw(t, "clients") {
			l.settings = append(l.settings, anySettings(t))
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 19).Draw(t, "what") {
			case 0, 1, 2, 3:
				l.timePasses()
			case 4:
				l.vanish()
			default:
				l.carryOut()
			}
			l.same()
		}
	})
}
