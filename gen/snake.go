package gen

import (
	"strings"
	"unicode"
)

// snake is the name of an op: GetPlan is get_plan, GetURLByID is get_url_by_id.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && runes[i-1] != '_' {
			before, after := runes[i-1], rune(0)
			if i+1 < len(runes) {
				after = runes[i+1]
			}
			if !unicode.IsUpper(before) || unicode.IsLower(after) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
