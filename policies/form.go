package policies

// Form says which of the two JSON documents a text is meant to be. The zero value is
// FormConfig.
type Form uint8

const (
	// FormConfig is a whole configuration: the nine keys of the package comment.
	FormConfig Form = iota
	// FormOverrides is the document of overrides alone, as its environment variable
	// holds it: services, and the override of each.
	FormOverrides
)

// Parse reads a document. That of FormConfig is read by [ParseJSON]; that of
// FormOverrides becomes a Config that has nothing but overrides. It accepts any input:
// what cannot be used is left out, and reported by [Load] and [Validate].
func (f Form) Parse(document []byte) Config {
	if f != FormOverrides {
		return ParseJSON(document)
	}
	var c Config
	c.RetryServiceOverrides, c.findings = parseOverrides(string(document), documentKey)
	return c
}
