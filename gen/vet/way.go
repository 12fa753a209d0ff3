package vet

import (
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// way is how a method could be annotated idempotent, so that a finding advises nothing that resilientgen refuses.
type way uint8

const (
	wayAnnotate way = iota
	wayRewind       // its reader has to be rewound
	wayStream       // there is none: it opens a stream
	wayOnce         // there is none: an argument can be given once
)

// wayOf looks at a method as resilientgen does.
func wayOf(obj types.Object) way {
	method, ok := obj.(*types.Func)
	if !ok {
		return wayAnnotate
	}
	sig := method.Origin().Signature()
	for result := range sig.Results().Variables() {
		if !shape.IsError(result.Type()) && shape.Streams(result.Type()) != "" {
			return wayStream
		}
	}
	found := wayAnnotate
	for param := range sig.Params().Variables() {
		switch {
		case shape.Consumes(param.Type()) == "":
		case shape.IsRewindable(param.Type()):
			found = wayRewind
		default:
			return wayOnce
		}
	}
	return found
}

// annotate is the advice to annotate a method, in a list of what can be done; "" where it cannot be annotated.
func (w way) annotate() string {
	switch w {
	case wayAnnotate:
		return ", annotate the method"
	case wayRewind:
		return ", annotate the method with //resilient:idempotent rewind"
	}
	return ""
}

// instead is what can be done besides making it once, or why nothing can.
func (w way) instead() string {
	switch w {
	case wayStream:
		return "; it opens a stream, which is never opened again"
	case wayOnce:
		return "; it is given what can be given once"
	}
	return ", or" + w.annotate()[1:]
}
