package sanitize

import "strings"

// leastOpaque is how long a word is at least that the strict rule masks.
const leastOpaque = 32

// withoutOpaque masks the long words that are mixed of letters and digits.
func withoutOpaque(text, mask string) string {
	var out strings.Builder
	done := 0
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && (isAlnum(text[end]) || strings.IndexByte("+/=_-", text[end]) >= 0) {
			end++
		}
		if word := text[at:end]; len(word) >= leastOpaque && strings.ContainsAny(word, "0123456789") && isMixed(word) && !strings.Contains(word, "//") {
			out.WriteString(text[done:at])
			out.WriteString(mask)
			done = end
		}
		at = max(at+1, end)
	}
	if done == 0 {
		return text
	}
	return out.String() + text[done:]
}
