package resilient

import (
	"maps"
	"strings"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Bounds of what a guard remembers of its ops' names: they are few and short, unless
// something of the request is in them.
const (
	mostOpNames   = 32
	longestOpName = 128 // bytes
)

// opNames remembers the names of ops as they may leave: they are the same with each call,
// and to look for secrets in one takes as long as the call. The zero value is ready.
type opNames struct {
	known atomic.Pointer[map[string]string] // replaced when one is added
}

// clean is the op's name with its secrets taken out. One that is known costs no
// allocation and no lock.
func (o *opNames) clean(name string) string {
	known := o.known.Load()
	if known != nil {
		if clean, ok := (*known)[name]; ok {
			return clean
		}
	}
	clean := sanitize.Message(name)
	if len(name) > longestOpName || known != nil && len(*known) >= mostOpNames {
		return clean
	}
	next := map[string]string{}
	if known != nil {
		next = maps.Clone(*known)
	}
	name = strings.Clone(name) // it may be a slice of something large
	if clean == name {
		clean = name
	}
	next[name] = clean
	o.known.CompareAndSwap(known, &next) // who comes too late is remembered the next time
	return clean
}
