package redisstore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// reader takes an answer apart, one part after the other. The first that makes no sense
// is kept as the fault; what is read after it is zero.
type reader struct {
	parts []string
	fault string
}

// answerParts is how many parts an answer has, as reply in lua/state.lua makes it.
const answerParts = 25

// decode reads what a script has answered. Whatever it is, the result is an answer that
// makes sense, or an error.
func decode(parts []string) (breaker.Answer, error) {
	if len(parts) != answerParts {
		return breaker.Answer{}, fmt.Errorf("%w: an answer of %d parts, want %d", breaker.ErrGarbled, len(parts), answerParts)
	}
	r := &reader{parts: parts}
	a := breaker.Answer{Now: r.time("now"), Granted: r.flag("granted"), Counted: r.flag("counted"), Clamped: r.flag("clamped")}
	rec := &a.Record
	rec.Round = r.number("round", maxExact)
	rec.Beneath = breaker.State(r.number("state", uint64(breaker.HalfOpen)))
	rec.Force = breaker.Force(r.number("force", uint64(breaker.ForceDisabled)))
	rec.Generation = r.count("generation")
	rec.LastFailure, rec.LastHalfOpen, rec.Since = r.time("last_failure"), r.time("last_half_open"), r.time("since")
	rec.Successes = r.count("successes")
	rec.ForceUntil = r.time("force_until")
	rec.Limit, rec.Needed, rec.Failures = r.count("limit"), r.count("needed"), r.count("failures")
	rec.Order.Force = breaker.Force(r.number("order_force", uint64(breaker.ForceDisabled)))
	rec.Order.Reset = r.flag("order_reset")
	rec.Order.For, rec.Ordered = r.time("order_for"), r.time("ordered")
	rec.Hold = r.time("hold")
	rec.Cause, rec.Order.Author, rec.Order.Reason = r.text(), r.text(), r.text()
	rec.Leases = r.leases("leases")
	if r.fault != "" {
		return breaker.Answer{}, fmt.Errorf("%w: an answer whose %s makes no sense", breaker.ErrGarbled, r.fault)
	}
	return a, nil
}

// maxExact is the largest whole number up to which a double has all of them.
const maxExact = 1<<53 - 1

func (r *reader) text() string {
	part := r.parts[0]
	r.parts = r.parts[1:]
	return part
}

func (r *reader) wrong(what string) {
	if r.fault == "" {
		r.fault = what
	}
}

func (r *reader) number(what string, most uint64) uint64 {
	n, ok := digits(r.text(), most)
	if !ok {
		r.wrong(what)
	}
	return n
}

func (r *reader) count(what string) int { return int(r.number(what, maxExact)) }

func (r *reader) flag(what string) bool { return r.number(what, 1) == 1 }

func (r *reader) time(what string) time.Duration {
	return time.Duration(r.number(what, maxExact)) * time.Microsecond
}

// leases reads token:end:length,token:end:length,…
func (r *reader) leases(what string) []breaker.Lease {
	var all []breaker.Lease
	for item := range strings.SplitSeq(r.text(), ",") {
		if item == "" {
			continue
		}
		token, rest, _ := strings.Cut(item, ":")
		end, length, _ := strings.Cut(rest, ":")
		owner, ok := digits(token, 1<<64-1)
		till, okTill := digits(end, maxExact)
		span, okSpan := digits(length, maxExact)
		if !ok || !okTill || !okSpan {
			r.wrong(what)
			return nil
		}
		all = append(all, breaker.Lease{
			Token: owner, End: time.Duration(till) * time.Microsecond, Length: time.Duration(span) * time.Microsecond,
		})
	}
	return all
}

// digits is a number of nothing but digits.
func digits(text string, most uint64) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		return 0, false
	}
	return n, true
}
