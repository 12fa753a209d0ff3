package storetest

// CheckNames are those of all checks.
func CheckNames() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Examine makes one check.
func Examine(name string, h Harness) (findings []error, notes []string) {
	for _, c := range checks() {
		if c.name == name {
			return c.examine(h)
		}
	}
	panic("no check is named " + name)
}
