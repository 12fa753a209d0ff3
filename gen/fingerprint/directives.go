package fingerprint

import (
	"go/types"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// OfType returns the fingerprint of an annotated interface, given its type parameters (nil if it has none).
func OfType(iface *types.Interface, params *types.TypeParamList, t *directive.Type) string {
	var directives []Directive
	t.All(func(method, text string) { directives = append(directives, Directive{Method: method, Text: text}) })
	return Of(iface, params, directives)
}
