package policies

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// MarshalJSON writes the explanation for programs: keys in the form of "latest_end",
// durations in seconds.
func (e Explanation) MarshalJSON() ([]byte, error) { return encode(reflect.ValueOf(e)) }

// MarshalJSON writes the chain likewise.
func (c Chain) MarshalJSON() ([]byte, error) { return encode(reflect.ValueOf(c)) }

// encode writes structs, which have exported fields only, in the order of their
// fields. So what is added to one is in its JSON too.
func encode(v reflect.Value) ([]byte, error) {
	if d, ok := v.Interface().(time.Duration); ok {
		return json.Marshal(d.Seconds())
	}
	switch v.Kind() {
	case reflect.Struct:
		return list('{', '}', v.NumField(), func(i int) (string, reflect.Value) { return snake(v.Type().Field(i).Name), v.Field(i) })
	case reflect.Slice:
		return list('[', ']', v.Len(), func(i int) (string, reflect.Value) { return "", v.Index(i) })
	default:
		return json.Marshal(v.Interface())
	}
}

// list writes n parts; those of an object have keys.
func list(begin, end byte, n int, part func(int) (key string, v reflect.Value)) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte(begin)
	for i := range n {
		key, v := part(i)
		value, err := encode(v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		if key != "" {
			out.WriteString(`"` + key + `":`)
		}
		out.Write(value)
	}
	out.WriteByte(end)
	return out.Bytes(), nil
}

// snake is LatestEnd as latest_end.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
