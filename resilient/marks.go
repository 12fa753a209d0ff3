package resilient

import "time"

// mark is an error with a note to every guard that sees it. It has the error's
// text, and stays where it is: a guard further out honours it too.
type mark struct {
	error
	kind  markKind
	after time.Duration
}

type markKind uint8

const (
	markPermanent markKind = iota + 1
	markNeutral
	markRetryAfter
	markThrottled
)

func (m *mark) Unwrap() error { return m.error }

// Permanent marks an error as one that will be the same next time: a failure that
// is not retried. The circuit counts it; an error that is not the dependency's
// fault, such as a request that cannot be encoded, is [Neutral]. The mark works
// through any wrapping and joining, and adds no text. Permanent(nil) is nil.
func Permanent(err error) error { return marked(err, markPermanent, 0) }

// Neutral marks an error as one that says nothing about the dependency, such as a
// full local pool: no circuit counts it, and it is not retried. The mark works
// through any wrapping and joining, and adds no text. Neutral(nil) is nil.
func Neutral(err error) error { return marked(err, markNeutral, 0) }

// RetryAfter marks an error with how long the server asked to wait: the call is
// not retried earlier. It ends there and then if the wait is longer than the
// policy's MaxRetryAfter or does not fit the time left; the [ExhaustedError]
// carries the hint. A negative wait is no wait anybody can keep, and ends the
// call too. The mark works through any wrapping and joining, and adds no text.
// RetryAfter(nil, d) is nil.
func RetryAfter(err error, after time.Duration) error { return marked(err, markRetryAfter, after) }

// Throttled marks an error as the server's "not so fast". It is a failure and retried
// like any other; a [Budget] of tokens takes the lower cost for it. An error with a
// hint of the server's ([RetryAfter]) is taken for throttled without the mark. The mark
// works through any wrapping and joining, and adds no text. Throttled(nil) is nil.
func Throttled(err error) error { return marked(err, markThrottled, 0) }

// Marks are what an error says of itself to whoever has to judge it. The zero value
// says nothing.
type Marks struct {
	// Permanent, Neutral and Throttled report the marks of those names.
	Permanent, Neutral, Throttled bool
	// Refused reports that a guarded call inside was refused: nothing ran.
	Refused bool
	// Exhausted reports that a guarded call inside gave up.
	Exhausted bool
	// RetryAfter is how long the server asked to wait; 0 if it did not, and negative if
	// nobody can wait so long.
	RetryAfter time.Duration
}

// MarksOf looks for marks as a [Guard] does, for those who judge errors themselves,
// through any wrapping and joining. An error whose methods panic says what could be
// seen of it.
func MarksOf(err error) (m Marks) {
	var f findings
	defer func() {
		_ = recover() // a foreign method's: as a guard judges, by what was seen
		m = Marks{
			Permanent: f.seen.has(sawPermanent), Neutral: f.seen.has(sawNeutral), Throttled: f.seen.has(sawThrottled),
			Refused: f.seen.has(sawRejected), Exhausted: f.seen.has(sawExhausted), RetryAfter: f.after,
		}
	}()
	f.scan(err)
	return m
}

func marked(err error, kind markKind, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &mark{error: err, kind: kind, after: after}
}

// findings are what an error's tree says about the attempt that returned it.
type findings struct {
	seen  sightings
	after time.Duration // the hint, if there is one
}

// sightings is a set of what can be found.
type sightings uint8

const (
	sawExhausted sightings = 1 << iota // a guarded call inside gave up
	sawRejected                        // a guarded call inside was refused
	sawPanic
	sawPermanent
	sawNeutral
	sawHint
	sawThrottled
)

// has reports whether s has one of those.
func (s sightings) has(those sightings) bool { return s&those != 0 }

// scan looks through an error's tree. It does not look into our own rejected and
// exhausted errors: what is in there was said about attempts of another call,
// and the error itself already ends the retries.
func (f *findings) scan(err error) {
	for err != nil {
		if all, ok := err.(*NoAnswerError); ok {
			f.scanAll(all)
			return
		}
		if ours := kindOf(err); ours != 0 {
			f.seen |= ours
			return
		}
		f.noteMark(err)
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				f.scan(inner)
			}
			return
		default:
			return
		}
	}
}

// endsRetries are the sightings that keep an error from being retried.
const endsRetries = sawNeutral | sawPermanent | sawExhausted | sawRejected | sawPanic

// scanAll looks at how several alternatives failed. As long as one of them may answer
// next time, those speak for all.
func (f *findings) scanAll(all *NoAnswerError) {
	if all == nil {
		return
	}
	var hopeful, hopeless findings
	found := false
	for _, err := range all.Failures {
		var one findings
		one.scan(err)
		if one.seen.has(endsRetries) {
			hopeless.join(one)
		} else {
			found = true
			hopeful.join(one)
		}
	}
	if found {
		f.join(hopeful)
	} else {
		f.join(hopeless)
	}
}

// join adds what others have found.
func (f *findings) join(other findings) {
	f.hint(other)
	f.seen |= other.seen
}

// hint takes over a hint, if it is the stricter one. A negative one is the strictest.
func (f *findings) hint(other findings) {
	if !other.seen.has(sawHint) {
		return
	}
	if !f.seen.has(sawHint) || other.after < 0 || f.after >= 0 && other.after > f.after {
		f.after = other.after
	}
}

// kindOf is which of our own errors this one is, nil ones apart. A PanicError unwraps
// to what was panicked with, which nobody returned.
func kindOf(err error) sightings {
	switch e := err.(type) {
	case *ExhaustedError:
		if e != nil {
			return sawExhausted
		}
	case *RejectedError:
		if e != nil {
			return sawRejected
		}
	case *PanicError:
		if e != nil {
			return sawPanic
		}
	}
	return 0
}

// noteMark takes note of the error itself if it is a mark, or of one that it gives
// out by its As method.
func (f *findings) noteMark(err error) {
	m, ok := err.(*mark)
	if !ok {
		e, hasAs := err.(interface{ As(target any) bool })
		ok = hasAs && e.As(&m)
	}
	if ok && m != nil {
		f.note(m)
	}
}

func (f *findings) note(m *mark) {
	switch m.kind {
	case markPermanent:
		f.seen |= sawPermanent
	case markNeutral:
		f.seen |= sawNeutral
	case markThrottled:
		f.seen |= sawThrottled
	case markRetryAfter:
		f.join(findings{seen: sawHint, after: m.after})
	}
}
