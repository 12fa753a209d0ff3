package sanitize

// Ahead returns how many bytes are looked through, in all, for the ends of elements.
func Ahead(text string) int {
	s := scanner{text: text}
	for at := 0; at < len(text); {
		at = s.step(at)
	}
	return s.ahead
}
