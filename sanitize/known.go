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
		spellings = append(spellings, value, url.QueryEscape(value), url.PathEscape(value))
		if text, err := json.Marshal(value); err == nil {
			spellings = append(spellings, string(text[1:len(text)-1]))
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
