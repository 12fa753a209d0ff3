package policies

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// A value as it was written is one of:
//
//	json.Number, string, bool, nil   a JSON scalar
//	composite                        a JSON object or array
//	text                             an environment variable, trimmed
//
// A fault never quotes text: what somebody pasted into the wrong place may be a
// secret. Numbers are shown.

// text is the value of an environment variable, where everything is text and so
// numbers and flags are read from it.
type text string

// composite says what stands where a scalar should: "an object", "an array".
type composite string

// fault is what is wrong with a value.
type fault struct {
	kind Kind
	text string // continues a sentence that began with the key: "is -1, want 0 … 5"
}

func wrongType(value any, want string) *fault {
	is := "cannot be read" // a variable: everything there is text
	switch v := value.(type) {
	case json.Number:
		is = "is a number"
	case string:
		is = "is a string"
	case bool:
		is = "is true or false"
	case composite:
		is = "is " + string(v)
	}
	return &fault{KindWrongType, is + ", want " + want}
}

func outOfRange(format string, args ...any) *fault {
	return &fault{KindOutOfRange, fmt.Sprintf(format, args...)}
}

// plainly shows a number as people write it, and one of very many digits with an exponent.
func plainly(f float64) string {
	const digits = 1e15
	if math.Abs(f) < digits && (f == 0 || math.Abs(f) >= 1/digits) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// decimal returns the number that value is written as: digits, sign, point and
// exponent only, so no "NaN", "Inf" or "0x10".
func decimal(value any) (float64, bool) {
	var digits string
	switch v := value.(type) {
	case json.Number:
		digits = string(v)
	case text:
		digits = string(v)
	default:
		return 0, false
	}
	if strings.Trim(digits, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return f, true // ±Inf for what is out of range; the checks of ranges refuse it
}

// whole is a whole number within low … high. 5.0 is one, since JSON knows no
// difference.
func whole(low, high int) kind[int] {
	const want = "a whole number"
	return kind[int]{
		parse: func(value any) (int, *fault) {
			f, ok := decimal(value)
			switch {
			case !ok:
				return 0, wrongType(value, want)
			case f < float64(low) || f > float64(high):
				return 0, outOfRange("is %s, want %d … %d", plainly(f), low, high)
			case f != math.Trunc(f):
				return 0, &fault{KindWrongType, fmt.Sprintf("is %s, want %s", plainly(f), want)}
			}
			return int(f), nil
		},
		limit: func(v int) *fault {
			if v < low || v > high {
				return outOfRange("is %d, want %d … %d", v, low, high)
			}
			return nil
		},
		json:   func(v int) any { return v },
		text:   strconv.Itoa,
		schema: map[string]any{"type": "integer", "minimum": low, "maximum": high},
	}
}

// ratio is a number within low … high.
func ratio(low, high float64) kind[float64] {
	return kind[float64]{
		parse: func(value any) (float64, *fault) {
			f, ok := decimal(value)
			if !ok {
				return 0, wrongType(value, "a number")
			}
			return f, nil
		},
		limit: func(v float64) *fault {
			if !(v >= low && v <= high) { // NaN too
				return outOfRange("is %s, want %s … %s", plainly(v), plainly(low), plainly(high))
			}
			return nil
		},
		json:   func(v float64) any { return v },
		text:   func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
		schema: map[string]any{"type": "number", "minimum": low, "maximum": high},
	}
}

// span is a duration within low … high.
func span(low, high time.Duration) kind[time.Duration] {
	return duration("minimum", low, high, func(v time.Duration) *fault {
		if v < low || v > high {
			return outOfRange("is %v, want %v … %v", v, low, high)
		}
		return nil
	})
}

// positive is a duration of more than 0 and at most high.
func positive(high time.Duration) kind[time.Duration] {
	return duration("exclusiveMinimum", 0, high, func(v time.Duration) *fault {
		if v <= 0 || v > high {
			return outOfRange("is %v, want more than 0 and at most %v", v, high)
		}
		return nil
	})
}

// duration is a number of seconds or a Go duration string. The schema, with above for its
// lower end, knows the range of numbers only.
func duration(above string, low, high time.Duration, limit func(time.Duration) *fault) kind[time.Duration] {
	return kind[time.Duration]{
		parse: func(value any) (time.Duration, *fault) {
			if f, ok := decimal(value); ok {
				ns := math.Round(f * float64(time.Second))
				if !(math.Abs(ns) < math.MaxInt64) {
					return 0, outOfRange("is %s seconds, which no duration holds", plainly(f))
				}
				return time.Duration(ns), nil
			}
			written, isString := value.(string)
			if t, isText := value.(text); isText {
				written, isString = string(t), true
			}
			d, err := time.ParseDuration(written)
			if !isString || err != nil {
				return 0, wrongType(value, `seconds as a number, or a Go duration such as "1.5s"`)
			}
			return d, nil
		},
		limit: limit,
		json:  func(v time.Duration) any { return v.Seconds() },
		text:  short,
		schema: map[string]any{
			"type": []string{"number", "string"}, above: low.Seconds(), "maximum": high.Seconds(), "pattern": durationPattern,
		},
	}
}

// short is a duration without the zeros at its end: 1m, not 1m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// optional shows the zero value as none.
func optional(k kind[time.Duration]) kind[time.Duration] {
	text := k.text
	k.text = func(d time.Duration) string {
		if d == 0 {
			return "none"
		}
		return text(d)
	}
	return k
}

// flag is true or false. A variable may also say 1, t, yes or on, and their
// opposites, in any case.
func flag() kind[bool] {
	return kind[bool]{
		parse: func(value any) (bool, *fault) {
			switch v := value.(type) {
			case bool:
				return v, nil
			case text:
				switch lower := strings.ToLower(string(v)); lower {
				case "yes", "on":
					return true, nil
				case "no", "off":
					return false, nil
				default:
					if b, err := strconv.ParseBool(lower); err == nil {
						return b, nil
					}
				}
			}
			return false, wrongType(value, "true or false")
		},
		limit:  func(bool) *fault { return nil },
		json:   func(v bool) any { return v },
		text:   strconv.FormatBool,
		schema: map[string]any{"type": "boolean"},
	}
}

// strategy is the name of a backoff strategy, spelled exactly.
func strategy() kind[resilient.Backoff] {
	return kind[resilient.Backoff]{
		parse: func(value any) (resilient.Backoff, *fault) {
			switch v := value.(type) {
			case string:
				return resilient.Backoff(v), nil
			case text:
				return resilient.Backoff(v), nil
			}
			return "", wrongType(value, "the name of a strategy")
		},
		limit: func(v resilient.Backoff) *fault {
			if v.Valid() {
				return nil
			}
			var names []string
			for _, b := range resilient.Backoffs() {
				names = append(names, string(b))
			}
			return outOfRange("is no strategy%s, want one of %s", didYouMean(nearest(string(v), names)), strings.Join(names, ", "))
		},
		json:   func(v resilient.Backoff) any { return v },
		text:   func(v resilient.Backoff) string { return string(v) },
		schema: map[string]any{"enum": resilient.Backoffs()},
	}
}

// budgetName is the name of a retry budget, "" for none. Whether there is a budget of that name
// is for the options to say: see unknownBudget.
func budgetName() kind[string] {
	const most = 100 // characters, as resilient.Policy has it
	return kind[string]{
		parse: func(value any) (string, *fault) {
			if name, ok := value.(string); ok {
				return name, nil
			}
			return "", wrongType(value, "the name of a budget")
		},
		limit: func(name string) *fault {
			if n := utf8.RuneCountInString(name); n > most {
				return outOfRange("has %d characters, want at most %d", n, most)
			}
			return nil
		},
		json: func(name string) any { return name },
		text: func(name string) string {
			if name == "" {
				return "none"
			}
			return sanitize.Message(name)
		},
		schema: map[string]any{"type": "string", "maxLength": most},
	}
}

// off switches a rule off. A number never does: a 0 that somebody did not think of is not
// to take the protection away.
const off = "off"

// orOff is a kind of which 0 is off, and written so.
func orOff[T int | float64 | time.Duration](k kind[T]) kind[T] {
	of := k
	or := func(bad *fault) *fault {
		return &fault{bad.kind, bad.text + `, or "` + off + `"`}
	}
	k.parse = func(value any) (T, *fault) {
		if value == off || value == text(off) {
			return 0, nil
		}
		v, bad := of.parse(value)
		if bad == nil && v == 0 {
			bad = of.limit(v)
		}
		if bad != nil {
			return 0, or(bad)
		}
		return v, nil
	}
	k.limit = func(v T) *fault {
		if bad := of.limit(v); bad != nil && v != 0 {
			return or(bad)
		}
		return nil
	}
	k.json = func(v T) any {
		if v == 0 {
			return off
		}
		return of.json(v)
	}
	k.text = func(v T) string {
		if v == 0 {
			return off
		}
		return of.text(v)
	}
	k.schema = map[string]any{"anyOf": []any{of.schema, map[string]any{"const": off}}}
	return k
}

// Where a circuit is kept, and what it does, as an override has it.
const (
	storeShared = "shared"
	storeLocal  = "local"
	modeEnforce = "enforce"
	modeObserve = "observe"
)

// oneOf is one of two words, for false and true; what says of which kind they are.
func oneOf(no, yes, what string) kind[bool] {
	word := func(v bool) string {
		if v {
			return yes
		}
		return no
	}
	return kind[bool]{
		parse: func(value any) (bool, *fault) {
			name, ok := value.(string)
			switch {
			case !ok:
				return false, wrongType(value, fmt.Sprintf("%q or %q", no, yes))
			case name == no, name == yes:
				return name == yes, nil
			}
			return false, outOfRange("is no %s%s, want %s or %s", what, didYouMean(nearest(name, []string{no, yes})), no, yes)
		},
		limit:  func(bool) *fault { return nil },
		json:   func(v bool) any { return word(v) },
		text:   word,
		schema: map[string]any{"enum": []string{no, yes}},
	}
}
