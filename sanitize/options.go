package sanitize

import (
	"errors"
	"fmt"
	"strings"
)

// Options are what a Sanitizer does differently. The zero value, and nil, change
// nothing.
type Options struct {
	// Keys are more names whose values are secrets, in any spelling: "tenant_code"
	// is also tenantCode, TENANT-CODE and x.tenant.code.
	Keys []string

	// Keep are names that are no secrets, whatever their words: whole names, in any
	// spelling. It wins over Keys.
	Keep []string

	// Mask stands in the place of a secret; "***" if it is empty. It is one word of
	// letters, digits and the signs * # _ - . [ ] < >.
	Mask string

	// Limit is how many characters (runes) a Message keeps; 200 if it is 0, all of
	// them if it is negative.
	Limit int

	// Values are secrets that are known. They are masked wherever they stand, also
	// as they are written in URLs and in JSON. Each has at least four bytes, so that
	// a text is not riddled by the value "a".
	Values []string

	// Paths are what is secret in the paths of URLs.
	Paths []PathRule

	// Strict takes every word behind the name of a secret and ": " for a value, also
	// where it reads like the text of an error: "password: incorrect" is masked.
	Strict bool

	// Opaque masks every word of 32 or more letters and digits that is mixed of
	// both, as keys are, and with them commit ids, digests and trace ids.
	Opaque bool
}

// ErrOptions is wrapped by what New says about options that cannot be met.
var ErrOptions = errors.New("sanitize: invalid options")

// Sanitizer takes secrets out of text by rules of its own. The functions of this
// package are the methods of one without options. It is safe for concurrent use and
// never changes; the zero value, and nil, are without options.
type Sanitizer struct{ rules *rules }

// New returns a Sanitizer. The error, which wraps ErrOptions, is about a mask that
// would be taken for something else, a value or a rule that is too short, or a name
// without letters.
func New(o *Options) (*Sanitizer, error) {
	if o == nil {
		return &Sanitizer{}, nil
	}
	r := *standard
	r.limit, r.strict, r.opaque = o.Limit, o.Strict, o.Opaque
	if o.Limit == 0 {
		r.limit = limit
	}
	if o.Mask != "" {
		if err := checkMask(o.Mask); err != nil {
			return nil, err
		}
		r.mask = o.Mask
	}
	var err error
	if r.names, err = withKeys(o.Keys, o.Keep); err != nil {
		return nil, err
	}
	r.near = near(&r.names.endings, r.tokens)
	if r.known, err = knownValues(o.Values, r.mask); err != nil {
		return nil, err
	}
	if r.paths, err = compilePaths(o.Paths); err != nil {
		return nil, err
	}
	return &Sanitizer{rules: &r}, nil
}

// rules is what a scanner goes by.
type rules struct {
	names  *classifier
	tokens *tokens
	near   *[256]uint8
	mask   string
	limit  int
	strict bool
	opaque bool
	known  *strings.Replacer
	paths  []pathRule
}

var standard = standardRules()

func standardRules() *rules {
	r := &rules{names: newClassifier(), tokens: newTokens(), mask: mask, limit: limit}
	r.near = near(&r.names.endings, r.tokens)
	return r
}

func (z *Sanitizer) by() *rules {
	if z == nil || z.rules == nil {
		return standard
	}
	return z.rules
}

const maskSigns = "*#_-.[]<>"

func checkMask(mask string) error {
	if len(mask) > maxName || !all(mask, func(c byte) bool { return isAlnum(c) || strings.IndexByte(maskSigns, c) >= 0 }) {
		return fmt.Errorf("%w: mask: want up to %d letters, digits and the signs %s", ErrOptions, maxName, maskSigns)
	}
	return nil
}

// withKeys are the rules about names, with more names.
func withKeys(keys, keep []string) (*classifier, error) {
	if len(keys) == 0 && len(keep) == 0 {
		return standard.names, nil
	}
	c := newClassifier()
	for _, key := range keys {
		var w words
		w.split(key)
		if w.count == 0 || w.n < 2 {
			return nil, fmt.Errorf("%w: key %q: want a name", ErrOptions, key)
		}
		rule := nameRule{word: strings.Clone(w.from(w.count - 1)), kind: secret}
		if w.count > 1 {
			rule.after = strings.Clone(w.from(w.count - 2))
		}
		c.add(rule)
		c.words[rule.word] = append([]nameRule{rule}, c.words[rule.word]...)
	}
	for _, key := range keep {
		var w words
		w.split(key)
		if w.count == 0 {
			return nil, fmt.Errorf("%w: keep %q: want a name", ErrOptions, key)
		}
		c.keep[string(w.buf[:w.n])] = true
	}
	return c, nil
}
