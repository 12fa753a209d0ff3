package sanitize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rules, printed as documentation: go test -run TestRules -v. Each rule must do
// what it says, and one about names must be missed when it is taken away.
func TestRules(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("names, by their last word\n")
	for i, rule := range nameRules {
		fmt.Fprintf(&doc, "  %-18s %-7v", rule.word, rule.kind)
		if rule.after != "" {
			fmt.Fprintf(&doc, " after: %s", rule.after)
		}
		if rule.unless != "" {
			fmt.Fprintf(&doc, " not after: %s", rule.unless)
		}
		if rule.ends {
			doc.WriteString(" (also run together)")
		}
		doc.WriteByte('\n')
		name := rule.word
		if rule.after != "" {
			first, _, _ := strings.Cut(rule.after, " ")
			name = first + "_" + name
		}
		names := []string{name}
		if rule.ends {
			names = append(names, "xy"+rule.word)
		}
		missed := false
		others := without(i)
		for _, name := range names {
			assert.Equal(t, rule.kind, standard.names.of(name), "rule %d: %s", i, name)
			missed = missed || others.of(name) != rule.kind
		}
		assert.True(t, missed, "rule %d: %s: another rule says the same", i, rule.word)
	}
	doc.WriteString("tokens, by their prefix\n")
	for _, rule := range tokenRules {
		fmt.Fprintf(&doc, "  %-30s and at least %d letters, digits %s\n", rule.prefix, rule.least, rule.set)
		body := strings.Repeat("a0B1c2D3", 12)
		if rule.fold {
			body = strings.ToUpper(body)
		}
		got := standard.clean("got " + rule.prefix + body + " here")
		assert.NotContains(t, got, body, rule.prefix)
		short := "got " + rule.prefix + "a0" + " here"
		assert.Equal(t, short, standard.clean(short))
	}
	t.Log("\n" + doc.String())
}

// without are the rules about names but for one.
func without(rule int) *classifier {
	c := &classifier{words: map[string][]nameRule{}, variant: map[string]bool{}, keep: map[string]bool{}, lists: make([][]nameRule, 1)}
	for i, other := range nameRules {
		if i != rule {
			c.add(other)
		}
	}
	return c
}

// What an owner knows besides: names, values, and paths of hosts (A87).
func TestOptions(t *testing.T) {
	z, err := New(&Options{
		Keys: []string{"tenant_code", "Quark"}, Keep: []string{"session_token"}, Mask: "[gone]", Limit: 40,
		Values: []string{"s3cr/t \"x\"", "k\"ey<1>&2"}, Paths: []PathRule{{Host: "*.example.com", Path: "/v1/*/***"}},
	})
	require.NoError(t, err)
	for text, want := range map[string]string{
		"tenantCode=A1 code=A1":             "tenantCode=[gone] code=A1",
		"my.quark: x1":                      "my.quark: [gone]",
		"sessionToken=abc token=abc":        "sessionToken=abc token=[gone]",
		`saw s3cr/t "x" there`:              "saw [gone] there",
		"q=s3cr%2Ft+%22x%22":                "q=[gone]",
		`{"a":"s3cr/t \"x\""}`:              `{"a":"[gone]"}`,
		"a=s3cr%2ft%20%22x%22&b=1":          "a=[gone]&b=1",
		`{"a":"k\"ey<1>&2"}`:                `{"a":"[gone]"}`,
		`{"a":"k\"ey\u003c1\u003e\u00262"}`: `{"a":"[gone]"}`,
		"https://a.example.com:8/v1/b/c/d?": "https://a.example.com:8/v1/b/[gone]/d?",
		"https://example.org/v1/b/c":        "https://example.org/v1/b/c",
		"https://u:p@h/x":                   "https://[gone]@h/x",
	} {
		assert.Equal(t, want, z.String(text))
		assert.Equal(t, want, z.String(want))
		assert.Equal(t, want, string(z.Bytes([]byte(text))))
		assert.Equal(t, "a"+want, string(z.AppendBytes([]byte("a"), []byte(text))))
	}
	assert.Equal(t, strings.Repeat("x", 40)+"...", z.Message(strings.Repeat("x", 50)))

	z, err = New(&Options{Strict: true, Opaque: true, Limit: -1})
	require.NoError(t, err)
	assert.Equal(t, "password: ***", z.String("password: incorrect"))
	assert.Equal(t, "commit ***", z.String("commit 0123456789abcdef0123456789abcdef01234567"))
	assert.Len(t, z.Message(strings.Repeat("x", 500)), 500)

	for _, o := range []Options{
		{Mask: "a=b"}, {Mask: "a b"}, {Mask: strings.Repeat("x", 100)}, {Values: []string{"abc"}}, {Keys: []string{"-"}}, {Keep: []string{""}},
		{Paths: []PathRule{{Host: "h", Path: "/***"}}}, {Paths: []PathRule{{Host: "h.x", Path: "/a"}}},
	} {
		_, err := New(&o)
		require.ErrorIs(t, err, ErrOptions, "%+v", o)
	}
	var none *Sanitizer
	assert.Equal(t, "token=***", none.String("token=F4KE"))
	clean := []byte("clean")
	assert.Same(t, &clean[0], &none.Bytes(clean)[0])
}

func TestMessageOfAHugeText(t *testing.T) {
	huge := strings.Repeat("a clean line, ", 1<<18)
	assert.Equal(t, huge[:200]+"...", standard.message(huge))
	assert.Equal(t, "password=***", standard.message("password="+strings.Repeat("F4KE", 1<<18)))
	assert.NotContains(t, standard.message(strings.Repeat("token=F4KE ", 1<<16)), "F4KE")
}
