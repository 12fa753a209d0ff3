package resilient

import "time"

// Op describes what a call does: its name, whether it may be repeated, and its
// own limits. It is a small value; make it where the call is made. The zero value
// is an op without a name that is not repeated.
type Op struct {
	name    string
	total   time.Duration
	attempt time.Duration
	phase   any
	flags   opFlags
}

type opFlags uint8

const (
	opIdempotent opFlags = 1 << iota
	opExecutesTools
	opInvalid
	opMayFailOver
	opOnce
)

// Idempotent describes an op that may be repeated: a read, a validation, or a
// write that has the same effect when it is made twice.
func Idempotent(name string) Op { return Op{name: name, flags: opIdempotent} }

// NonIdempotent describes an op that is made once.
func NonIdempotent(name string) Op { return Op{name: name} }

// Name returns the op's name as it was given.
func (o Op) Name() string { return o.name }

// Idempotent reports whether the op may be repeated.
func (o Op) Idempotent() bool { return o.has(opIdempotent) && !o.has(opOnce) }

// WithTotalTimeout sets the op's own limit for all attempts and waits together,
// in place of the policy's. 0 means the policy's; more than [MaxTotalTimeout]
// means MaxTotalTimeout; with a negative one every call fails with
// [ErrInvalidOp].
func (o Op) WithTotalTimeout(d time.Duration) Op {
	o.total = o.limit(d)
	return o
}

// WithAttemptTimeout sets the op's own limit for each attempt, in place of the
// policy's; the same values as with [Op.WithTotalTimeout] are special.
func (o Op) WithAttemptTimeout(d time.Duration) Op {
	o.attempt = o.limit(d)
	return o
}

func (o *Op) limit(d time.Duration) time.Duration {
	if d < 0 {
		o.flags |= opInvalid
	}
	return min(d, MaxTotalTimeout)
}

// InPlan says in which phase of a plan the op is made. What phases are read-only
// is for [Options].ReadOnlyPlan to say.
func (o Op) InPlan(phase any) Op {
	o.phase = phase
	return o
}

// ExecutesTools says that the op runs tools, which may write whatever the op is
// declared to be: in a read-only phase of a plan it is not repeated.
func (o Op) ExecutesTools() Op {
	o.flags |= opExecutesTools
	return o
}

// Once says that the op cannot be made twice, since what it is made of is used up by
// the first attempt: a body that can be read only once. It is not repeated then,
// whatever it is declared to be and whatever the policy says.
func (o Op) Once() Op {
	o.flags |= opOnce
	return o
}

// MayFailOver says that an op which is not idempotent may go to the next alternative of
// [FirstOf] all the same, though it may have had its effect at the one before.
func (o Op) MayFailOver() Op {
	o.flags |= opMayFailOver
	return o
}

func (o *Op) has(f opFlags) bool { return o.flags&f != 0 }
