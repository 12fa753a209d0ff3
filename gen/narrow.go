package gen

import (
	"go/token"
	"go/types"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// narrow makes a target of the methods of a type that is no interface of ours.
func (f *finder) narrow(t *target, from *directive.Directive) bool {
	return false
}

var (
	_ token.Position
	_ types.Type
)
