package gen

import (
	"go/token"
	"go/types"
	"strconv"
)

// taken is a set of identifiers that are in use where a new one is wanted.
type taken map[string]bool

func (t taken) add(names ...string) {
	for _, name := range names {
		t[name] = true
	}
}

func (t taken) addAll(others ...taken) {
	for _, other := range others {
		for name := range other {
			t[name] = true
		}
	}
}

// fresh returns the name itself if it is free, else the first free one of name2,
// name3, …
func (t taken) fresh(name string) string { return t.numbered(name, name) }

// renamed returns name_ where a name that somebody else chose has to give way.
func (t taken) renamed(name string) string {
	if !t[name] {
		return name
	}
	return t.numbered(name+"_", name+"_")
}

func (t taken) numbered(first, base string) string {
	for i, name := 2, first; ; i++ {
		if !t[name] && !token.IsKeyword(name) {
			return name
		}
		name = base + strconv.Itoa(i)
	}
}

// predeclared are the identifiers of the language's own scope.
func predeclared() taken {
	t := taken{}
	t.add(types.Universe.Names()...)
	return t
}
