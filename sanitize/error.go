package sanitize

import (
	"fmt"
	"strconv"
	"sync"
)

// Error returns an error whose text is the Message of the text of err, for
// where an error's text leaves the program. To errors.Is, errors.As and
// errors.Unwrap it is err, which is not changed; whoever unwraps it and prints
// what is inside prints the secrets.
//
// Nil gives nil, and an error from here comes back as it is. The text is
// computed when it is first asked for, once. The error is safe for concurrent
// use if the Error method of err is.
func Error(err error) error {
	if err == nil {
		return nil
	}
	if done, ok := err.(*sanitized); ok {
		return done
	}
	return &sanitized{err: err}
}

type sanitized struct {
	err  error
	once sync.Once
	text string
}

func (e *sanitized) Error() string {
	e.once.Do(func() { e.text = Message(textOf(e.err)) })
	return e.text
}

func (e *sanitized) Unwrap() error { return e.err }

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
