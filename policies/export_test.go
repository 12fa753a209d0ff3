package policies

// Codes are those of all warnings and notes there are.
func Codes() (codes []string) {
	for _, table := range [][]rule{warnings, notes} {
		for _, r := range table {
			codes = append(codes, r.code)
		}
	}
	return codes
}

// Keys are those of all settings.
func Keys() (keys []string) {
	for i := range fields {
		keys = append(keys, fields[i].path())
	}
	return keys
}
