package redisstore

import (
	"strconv"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// longest is what a command's times are cut to, as breaker.Record does it: so far ahead
// that nobody minds, and near enough to be added up in a double.
const longest = 100 * 365 * 24 * time.Hour

// longestHold is likewise what a hold is cut to.
const longestHold = 24 * time.Hour

func hold(d time.Duration) string { return micros(min(d, longestHold)) }

// arguments are what a script is given: first those that lua/state.lua reads, then the
// command's own.
func (s *Store) arguments(circuit string, c breaker.Command) []any {
	on := c.Settings
	common := []any{
		circuit, s.channel, micros(s.options.Retention), id(c.ID),
		flag(on.Enabled), on.FailureThreshold, micros(on.RecoveryTimeout), micros(on.Cooldown),
		on.MaxProbes, on.SuccessesToClose, exactly(on.RecoveryMultiplier), micros(on.MaxRecoveryTimeout), on.MinReporters,
	}
	return append(common, own(c)...)
}

func own(c breaker.Command) []any {
	switch c.Kind {
	case breaker.Acquire:
		return []any{micros(c.Lease)}
	case breaker.Settle:
		return []any{id(c.Round), id(c.Token), int(c.Outcome), flag(c.Restart), c.Cause, hold(c.Hold)}
	case breaker.Vote:
		return []any{id(c.Round), id(c.Replica), max(c.Failures, 0), c.Cause, hold(c.Hold)}
	case breaker.Operate:
		o := c.Order
		return []any{int(o.Force), flag(o.Reset), micros(o.For), o.Author, o.Reason}
	case breaker.Rebuild:
		v := c.View
		return []any{
			int(v.Beneath), max(v.Generation, 0), max(c.Failures, 0), c.Cause,
			micros(v.LastFailure), micros(v.LastHalfOpen), micros(v.Since), id(v.Round), hold(v.Hold),
		}
	default:
		return nil
	}
}

// micros is a time in whole microseconds: one that is not nothing is at least one.
func micros(d time.Duration) string {
	if d <= 0 {
		return "0"
	}
	return strconv.FormatInt(max(min(d, longest).Microseconds(), 1), 10)
}

func id(n uint64) string { return strconv.FormatUint(n, 10) }

// exactly is a number such that whoever reads it has the same one.
func exactly(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}
