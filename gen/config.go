package gen

// Config says what to generate.
type Config struct {
	// Dir is where patterns are resolved; "" is the current folder.
	Dir string
	// Patterns are as go list takes them; none is the package in Dir.
	Patterns []string
	// Tags are build tags, separated by commas.
	Tags string
	// Out is the file to write the wrappers of one package to, in place of one beside
	// each source file. Relative paths start at Dir.
	Out string
	// Source type-checks dependencies from their source. The default reads the
	// compiler's export data, which is cheaper unless the build cache is cold.
	Source bool
	// Strict refuses interfaces with a method that cannot be guarded and is not
	// skipped by a directive.
	Strict bool
	// Tests takes test files along.
	Tests bool
	// Env is the environment of the go command; nil is this process's.
	Env []string
}

// Result is what Run has found and made.
type Result struct {
	// Services are the interfaces with a wrapper, in the order of packages and files.
	Services []Service
	// Files are what to write, changed or not; empty if there are Problems.
	Files []File
	// Problems are what is refused.
	Problems []Problem
	// Notes are what the reader should know, and what stops nothing.
	Notes []Problem
}

// A Service is one wrapped interface, for lists.
type Service struct {
	Package   string   `json:"package"`
	Interface string   `json:"interface"`
	Service   string   `json:"service"`
	Position  string   `json:"position"`
	Output    string   `json:"output"`
	Methods   []Method `json:"methods"`
}

// A Method is what becomes of one method.
type Method struct {
	Name       string `json:"name"`
	Op         string `json:"op,omitempty"`
	Kind       string `json:"kind"` // guarded, stream, forwarded
	Idempotent bool   `json:"idempotent"`
	Total      string `json:"total_timeout,omitempty"`
	Attempt    string `json:"attempt_timeout,omitempty"`
	Why        string `json:"why,omitempty"`
}
