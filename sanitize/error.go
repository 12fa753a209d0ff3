package sanitize

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Error returns an error whose text is the Message of the text of err, for
// where an error's text leaves the program. errors.Is and errors.As find in it
// what they find in err, which is not changed. There is no way to unwrap it:
// who does that, and prints what is inside, prints the secrets. An error that
// errors.As takes out is the original.
//
// Nil gives nil, and an error from here comes back as it is. The text is
// computed when it is first asked for, once. The error is safe for concurrent
// use if the Error method of err is.
func Error(err error) error { return standard.error(err) }

// Error is the function Error by the rules and the limit of the Sanitizer.
func (z *Sanitizer) Error(err error) error { return z.by().error(err) }

func (r *rules) error(err error) error {
	if err == nil {
		return nil
	}
	if done, ok := err.(*sanitized); ok {
		return done
	}
	return &sanitized{err: err, rules: r}
}

type sanitized struct {
	err   error
	rules *rules
	once  sync.Once
	text  string
}

func (e *sanitized) Error() string {
	e.once.Do(func() { e.text = e.rules.message(textOf(e.err)) })
	return e.text
}

func (e *sanitized) Is(target error) bool { return errors.Is(e.err, target) }

func (e *sanitized) As(target any) bool { return errors.As(e.err, target) }

// Format keeps every verb from printing the fields of the original: %#v and %x as
// well.
func (e *sanitized) Format(f fmt.State, verb rune) {
	text := e.Error()
	if verb == 'v' && f.Flag('#') {
		text = e.GoString()
	}
	format := fmt.FormatString(f, verb)
	if verb == 'v' {
		format = strings.NewReplacer("#", "", "+", "").Replace(format)
		format = format[:len(format)-1] + "s"
	}
	// A verb that is no text's prints the text, as one that is wrong does.
	_, _ = fmt.Fprintf(f, format, text)
}

// GoString keeps %#v from printing the fields of the original.
func (e *sanitized) GoString() string {
	return "sanitize.Error(" + strconv.Quote(e.Error()) + ")"
}

// textOf is the error's text. An Error method that panics, as those of nil
// pointers do, is reported and not passed on: who logs an error is in trouble
// already.
func textOf(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("%T: panic in Error: %v", err, p)
		}
	}()
	return err.Error()
}
