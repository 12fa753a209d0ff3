package sanitize

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// leastKnown is how long a known value is at least.
const leastKnown = 4

// knownValues puts the mask in the place of values, however they are escaped. Nil:
// there are none. Of two that begin alike the longer one counts.
func knownValues(values []string, mask string) (*strings.Replacer, error) {
	var spellings []string
	for _, value := range values {
		if len(value) < leastKnown {
			return nil, fmt.Errorf("%w: a known value of %d bytes: want at least %d", ErrOptions, len(value), leastKnown)
		}
		spellings = append(spellings, value)
		for _, spelling := range []string{url.QueryEscape(value), url.PathEscape(value), allEscaped(value)} {
			spellings = append(spellings, spelling, lowerEscapes(spelling))
		}
		if text, err := json.Marshal(value); err == nil {
			inner := string(text[1 : len(text)-1])
			spellings = append(spellings, inner, unescapeHTML.Replace(inner))
		}
	}
	if len(spellings) == 0 {
		return nil, nil
	}
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, spelling := range slices.Compact(spellings) {
		pairs = append(pairs, spelling, mask)
	}
	return strings.NewReplacer(pairs...), nil
}

// allEscaped is a value as other languages write it into URLs, with its blanks as %20.
func allEscaped(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// lowerEscapes writes the escapes of a URL with small letters: %2f.
func lowerEscapes(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			out[i+1], out[i+2] = lower(out[i+1]), lower(out[i+2])
		}
	}
	return string(out)
}

// unescapeHTML undoes what only the JSON of Go escapes.
var unescapeHTML = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">")
