package toolguard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Reason is why a tool is withheld, or a call refused. The zero value is none.
type Reason uint8

const (
	// ReasonOpen says that the tool has failed, and that its cooldown is not over.
	ReasonOpen Reason = iota + 1
	// ReasonProbe says that somebody is trying whether it works again.
	ReasonProbe
	// ReasonSecondProbe says that another call of the same turn is the one that tries it.
	ReasonSecondProbe
	// ReasonForced says that an operator has switched the tool off.
	ReasonForced
	// ReasonBudget says that the session has had all the failures it may have.
	ReasonBudget
)

var reasonNames = [...]string{"none", "open", "probe", "second probe", "forced", "budget"}

// String returns "open", "probe", "second probe", "forced" or "budget".
func (r Reason) String() string {
	if int(r) >= len(reasonNames) {
		return "unknown"
	}
	return reasonNames[r]
}

func reasonOf(rejected *breaker.RejectedError) Reason {
	switch rejected.State {
	case breaker.ForcedOpen:
		return ReasonForced
	case breaker.HalfOpen:
		return ReasonProbe
	default:
		return ReasonOpen
	}
}

// RefusedError says that a call was refused: the tool has not run. Find it with
// errors.As. It is for the program; the model is to get [RefusedError.Message], as a
// normal result of the tool: a model that gets an error tries again. It is immutable.
type RefusedError struct {
	// Tool is the name that the model has called.
	Tool string
	// Reason is why.
	Reason Reason
	// Until is when the tool may be back; zero if nobody knows.
	Until time.Time
	// Failures is how many the session has had, for ReasonBudget.
	Failures int
	// Others are the tools of the turn that the model may have instead; nil without a
	// turn. For ReasonBudget these are those that are not watched.
	Others []string

	rejected *breaker.RejectedError
}

// Error says in one line, with secrets taken out, which tool and why.
func (e *RefusedError) Error() string {
	if e == nil {
		return "tool: refused"
	}
	text := fmt.Sprintf("tool %q refused: %s", shown(e.Tool), e.Reason)
	if !e.Until.IsZero() {
		text += " until " + e.Until.UTC().Format(time.RFC3339)
	}
	return text
}

// GoString is the text, so that %#v prints none of the fields.
func (e *RefusedError) GoString() string { return e.Error() }

// MarshalText is the text: what encodes the error does not encode its fields.
func (e *RefusedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Unwrap returns what makes a guarded call round this one leave it at that: the
// circuit's rejection, and with it what has opened the circuit, or a neutral error.
func (e *RefusedError) Unwrap() error {
	switch {
	case e == nil:
		return nil
	case e.rejected != nil:
		return e.rejected
	default:
		return errNeutral
	}
}

var errNeutral = resilient.Neutral(errors.New("nothing has run"))

// Message says it to the model: that the tool is not to be had, until when, that it is
// not to be called before, and what else there is. It is a few short sentences, without
// the tool's own errors.
func (e *RefusedError) Message() string {
	if e == nil {
		return ""
	}
	name := strconv.Quote(shown(e.Tool))
	switch e.Reason {
	case ReasonBudget:
		return budgetText(e.Failures, e.Others)
	case ReasonForced:
		return "Tool " + name + " is switched off by an operator" + untilText(e.Until) + ". Do not call it. " + e.othersText()
	case ReasonSecondProbe:
		return "Tool " + name + " is temporarily unavailable: one call in this turn shows whether it works again. " +
			"Do not call it again in this turn. " + e.othersText()
	case ReasonProbe:
		return "Tool " + name + " is temporarily unavailable: another call is trying whether it works again. " +
			"Do not call it again in this turn. " + e.othersText()
	default:
		return "Tool " + name + " is temporarily unavailable" + whenText(e.Until) + e.othersText()
	}
}

// budgetText leaves a model the tools that it may need to finish.
func budgetText(failures int, others []string) string {
	but := ""
	if len(others) > 0 {
		but = " other than " + list(others)
	}
	calls := fmt.Sprintf("%d calls in this session have", failures)
	if failures == 1 {
		calls = "1 call in this session has"
	}
	return fmt.Sprintf("Stop calling tools%s: %s failed, and no more are allowed. "+
		"Go on with what is known, and say what could not be done.", but, calls)
}

// whenText says until when, and what to do meanwhile.
func whenText(until time.Time) string {
	if text := untilText(until); text != "" {
		return text + ". Do not call it before then. "
	}
	return ". Do not call it again in this turn. "
}

// untilText is a point in time for somebody without a clock: rounded up, so that it is
// true.
func untilText(until time.Time) string {
	left := time.Until(until)
	if until.IsZero() || left <= 0 {
		return ""
	}
	up := until.UTC().Add(time.Second - 1).Truncate(time.Second)
	return fmt.Sprintf(" until %s (%d s from now)", up.Format(time.RFC3339), (left+time.Second-1)/time.Second)
}

// mostOthers is how many names are listed: a model has the list anyway.
const mostOthers = 8

func (e *RefusedError) othersText() string {
	if len(e.Others) == 0 {
		return "Go on without it, and say what could not be done."
	}
	return "Other tools: " + list(e.Others) + "."
}

// list is the first few of the names.
func list(names []string) string {
	first := make([]string, 0, mostOthers)
	for _, name := range names[:min(len(names), mostOthers)] {
		first = append(first, strconv.Quote(shown(name)))
	}
	text := strings.Join(first, ", ")
	if more := len(names) - len(first); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Notice says to the model, where there is a place to tell it before it calls anything,
// what is withheld in this turn; "" if nothing is.
func (t *Turn) Notice() string {
	if t == nil || len(t.withheld) == 0 {
		return ""
	}
	if t.withheld[0].Reason == ReasonBudget {
		return budgetText(t.failures(), t.unwatched())
	}
	names := make([]string, 0, mostOthers)
	for _, w := range t.withheld[:min(len(t.withheld), mostOthers)] {
		names = append(names, strconv.Quote(shown(w.Tool))+untilText(w.Until))
	}
	text := "Tools that are temporarily unavailable: " + strings.Join(names, ", ")
	if more := len(t.withheld) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ". Do not call them."
}
