package sanitize_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

// pieces are what the strings of the documents are made of: what begins, ends or
// resembles a secret.
var pieces = strings.Split(`password|=|:| |, |token|"|'|\|\n|{|}|[|]|://|u:p@h|@|-----BEGIN PRIVATE KEY-----|Authorization: Bearer |abc|12|`+
	`<token>|</|&quot;|%3A%2F%2F|--secret |;|&|?|#|eyJhbGciOi.J|sk-|ghp_|PASSWORD 'x|x-api-key: |é|密|`+"\u2028|\n|\t|`", "|")

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(7) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomDocument(r *rand.Rand, depth int, key func() string, text func() string) any {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		m := map[string]any{}
		for range r.IntN(5) {
			m[key()] = randomDocument(r, depth-1, key, text)
		}
		return m
	case n < 4 && depth > 0:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomDocument(r, depth-1, key, text))
		}
		return list
	case n == 4:
		return r.IntN(1000000)
	case n == 5:
		return []any{nil, true, false, 1.5e-3}[r.IntN(4)]
	}
	return text()
}

func documents() int {
	if nightly {
		return 50_000
	}
	return 3_000
}

// JSON stays JSON, whatever is in it, and a second time changes nothing.
func TestJSONStaysValid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := []string{"password", "token", "api_key", "n", "Authorization", "cookies", "tokens", "name", "value", "auth", "a b", "key", "connection_string", `q"uo'te`}
	for i := range documents() {
		doc := randomDocument(r, 4, func() string { return keys[r.IntN(len(keys))] }, func() string { return randomText(r) })
		data, err := json.Marshal(doc)
		require.NoError(t, err)
		if i%3 == 1 {
			data, err = json.MarshalIndent(doc, "", "  ")
			require.NoError(t, err)
		} else if i%3 == 2 {
			data, err = json.Marshal(map[string]any{"body": string(data), "n": 1})
			require.NoError(t, err)
		}
		got := sanitize.String(string(data))
		require.True(t, json.Valid([]byte(got)), "%s\n%s", data, got)
		require.True(t, utf8.ValidString(got))
		require.Equal(t, got, sanitize.String(got), "%s", data)
	}
}

// Documents without secrets come back as they are.
func TestCleanJSONStays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	keys := []string{"id", "user", "max_tokens", "name", "token_type", "created_at", "url", "primary_key", "items", "commit", "message", "total"}
	words := []string{"bob", "token expired", "https://h.internal/p?q=1", "2026-01-02T15:04:05Z", "a: b", "it's", `say "hi"`, "user@example.com",
		"4bf92f3577b34da6a3ce929d0e0e4736", "10.0.0.1:5432", "password must be set", "x=1, y=2", "50%", "secret", "<b>bold</b>", "a-b_c.d"}
	for range documents() {
		doc := randomDocument(r, 4, func() string { return keys[r.IntN(len(keys))] }, func() string { return words[r.IntN(len(words))] })
		data, err := json.Marshal(doc)
		require.NoError(t, err)
		require.Equal(t, string(data), sanitize.String(string(data)))
	}
}

// Whatever the text, a second time changes nothing, runes stay whole, and bytes that
// are none hide nothing.
func TestIdempotent(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 * documents() {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		once := sanitize.String(text)
		if twice := sanitize.String(once); twice != once {
			t.Fatalf("%q\n%q\n%q", text, once, twice)
		}
		if utf8.ValidString(text) && !utf8.ValidString(once) {
			t.Fatalf("%q\n%q", text, once)
		}
	}
	for _, junk := range []string{"\xff", "\xc3", "\xe2\x82", "\x80\x80", "\xf0\x9f", "\x00"} {
		for _, form := range []string{"password=%F4KE", "password=F4%KE x", `{"token":"F4%KE"}`, "%password=F4KE", "x://u:F4%KE@h", "%{'token': 'F4KE'}"} {
			got := sanitize.String(strings.Replace(form, "%", junk, 1))
			require.NotContains(t, got, "KE", form)
		}
	}
}
