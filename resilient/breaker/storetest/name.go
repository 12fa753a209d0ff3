package storetest

import (
	"fmt"
	"strings"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func nameChecks() []check {
	return []check{{name: "names of any characters are kept apart", run: names}}
}

// odd are names, each unlike the one before in little, that a careless encoding mixes up.
func odd() []string {
	return []string{
		"", " ", ":", "::", "{", "}", "{}", "}{", "\x00", "\x00\x00", "\n", "\r\n", "\t", "\x7f",
		"a", "A", "a ", " a", "a\x00", "a:", "a:b", "a:b:c", "a%3Ab", "a{b}", "{a}b", "{a}", "a{b}c", "a\nb", "a\\nb",
		"*", "?", "[a]", "%s", "%", "'", `"`, "`", `\`, "/", "../a", "a/b", "$1", "#", "-1", "0", "null",
		"é", "e\u0301", "日本", "💥", "\u2028", "\ufeff", "\xff", "\xfe", "a\xffb", "\ufffd", "\xc3\x28",
		strings.Repeat("x", 4096), strings.Repeat("x", 4097), strings.Repeat("é", 2000) + "1", strings.Repeat("é", 2000) + "2",
	}
}

// Every second one is opened; then each is what was done to it, and its cause its own
// (P119, A41).
func names(l *lab) {
	var twins []*twin
	for _, name := range odd() {
		twins = append(twins, l.named(name), l.named(l.prefix+name), l.named(name+l.prefix), l.named(name+l.prefix+name))
	}
	apart := map[string]*twin{}
	for _, w := range twins {
		if apart[w.name] == nil { // "" in front is "" behind
			apart[w.name] = w
			w.startAnew()
		}
	}
	cause := func(name string) string { return fmt.Sprintf("%+q", name) }
	open := func(name string) bool { return len(cause(name))%2 == 0 }
	for name, w := range apart {
		s := settings()
		if open(name) {
			s.FailureThreshold = 1
		}
		c := w.outcome(breaker.Failure, s)
		c.Cause = cause(name)
		w.do(c)
	}
	for name, w := range apart {
		r := w.do(breaker.Command{Kind: breaker.Read}).Record
		l.must((r.Beneath == breaker.Open) == open(name), "the circuit named %+q is %v", name, r.Beneath)
		l.must(r.Cause == cause(name), "the circuit named %+q has the cause of %s", name, r.Cause)
		w.startAnew() // nothing is left behind
	}
}

// startAnew closes a circuit of which the store may know something from earlier tests.
func (w *twin) startAnew() {
	w.raw(breaker.Command{Kind: breaker.Operate, ID: newID(), Settings: settings(), Order: breaker.Order{
		Reset: true, Author: "storetest", Reason: "a test begins",
	}})
	w.adopt()
}
