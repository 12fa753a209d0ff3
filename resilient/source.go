package resilient

// Source is where guards are kept, for those who look at them: pages, metrics. A registry
// of package policies is one, and so is [GuardList]. Implementations must be safe for
// concurrent use.
type Source interface {
	// Names returns the guards' names, in the order in which they are to be shown.
	Names() []string
	// Lookup returns the guard of that name, and makes none.
	Lookup(name string) (*Guard, bool)
}

// GuardList is a [Source] for a program that keeps its guards itself. It must not be
// changed while somebody looks at it; nil has none.
type GuardList []*Guard

// Names returns the guards' names.
func (l GuardList) Names() []string {
	names := make([]string, len(l))
	for i, guard := range l {
		names[i] = guard.Name()
	}
	return names
}

// Lookup returns the first guard of that name.
func (l GuardList) Lookup(name string) (*Guard, bool) {
	for _, guard := range l {
		if guard.Name() == name {
			return guard, true
		}
	}
	return nil, false
}
