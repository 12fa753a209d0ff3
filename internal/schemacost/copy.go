package schemacost

import (
	"encoding/json"
	"errors"
)

// ErrTooMuch says that checking a value against a schema may take too long, or for ever.
var ErrTooMuch = errors.New("schemacost: it would take too long")

// Copy puts a schema, in whatever form its owner has it, into the type of who is to check
// a value against it. The owner's is not touched. The error is [ErrTooMuch], or
// encoding/json's.
func Copy(schema, into, value any) error {
	var plain any
	if err := recode(schema, &plain); err != nil {
		return err
	}
	if !Affordable(plain, value) {
		return ErrTooMuch
	}
	if err := recode(plain, into); err != nil {
		return err
	}
	var understood any // keywords are found in whatever case they are written
	if err := recode(into, &understood); err != nil {
		return err
	}
	if !Affordable(understood, value) {
		return ErrTooMuch
	}
	return nil
}

func recode(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}
