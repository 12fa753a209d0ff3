package houserules

// Module is the path of the root module.
const Module = "github.com/seed42274fcc/stoic"

// A Rule says what one package may import.
type Rule struct {
	// May lists what its code may import besides the standard library: folders of this module, and packages of
	// others. "x/..." is x and everything below it.
	May []string

	// Never lists packages of the standard library that its code must not import.
	Never []string

	// Why is repeated when the rule is broken.
	Why string
}

// TestOnly lists what the tests of every package may import, and no other code of the root module may.
var TestOnly = []string{
	"github.com/stretchr/testify/...",
	"pgregory.net/rapid",
}

// outside is what the core never learns about: JSON, HTTP and the environment. (Redis is no part of the standard
// library, so that May keeps it out.) database/sql is not here, for the sake of its one sentinel error; what may be used
// of it is in Sentinels.
var outside = []string{"encoding/json", "net/http", "os", "syscall"}

// core is what every package round the core may use of it.
var core = []string{"resilient", "resilient/breaker", "nesting", "sanitize"}

const (
	leaf   = "a leaf: the standard library only"
	around = "round the core: imports point inwards, and to no neighbour"
)

// Rules has one row for each package of the root module, by folder, and for those that are planned. Imports point one
// way: what is round the core, then the core, then the circuit, then the leaves.
var Rules = map[string]Rule{
	"nesting":  {Why: leaf},
	"sanitize": {Why: leaf},

	"resilient/breaker": {
		May:   []string{"nesting", "sanitize", "github.com/sony/gobreaker/v2"},
		Never: outside,
		Why:   "the circuit: below it are only the leaves and the library that counts",
	},
	"resilient/breaker/storetest": {
		May: []string{"resilient/breaker", "nesting", "sanitize"},
		Why: "what a store is checked against: it knows the circuit, and no store",
	},
	"resilient/internal/journal": {
		May:   []string{"resilient/breaker", "sanitize"},
		Never: outside,
		Why:   "what guards log: it knows circuits, and no guard",
	},
	"resilient": {
		May:   []string{"resilient/breaker", "resilient/internal/journal", "nesting", "sanitize", "github.com/avast/retry-go/v4"},
		Never: outside,
		Why:   "the core: below it are the circuit, the leaves and the library that retries",
	},

	"policies":                {May: core, Why: around + "; Redis comes in through the options only"},
	"resilient/toolguard":     {May: append([]string{"resilient/internal/journal"}, core...), Why: around},
	"resilient/httpguard":     {May: core, Why: around},
	"resilient/dashboard":     {May: core, Why: around},
	"resilient/resilienttest": {May: core, Why: around},
	"resilient/redisstore":    {May: append([]string{"github.com/redis/go-redis/v9/..."}, core...), Why: around},

	"gen": {
		May: []string{"gen/directive", "gen/fingerprint", "gen/internal/shape", "github.com/dave/jennifer/jen", "golang.org/x/tools/..."},
		Why: "the generator prints calls to the library and makes none",
	},
	"gen/directive": {Why: leaf},
	"gen/fingerprint": {
		May: []string{"gen/directive"},
		Why: "what the generator writes and the analyzers compare: types and directives, nothing of either side",
	},
	"gen/internal/shape": {Why: leaf},
	"gen/vet": {
		May: []string{"gen/directive", "gen/fingerprint", "gen/internal/shape", "golang.org/x/tools/..."},
		Why: "the analyzers know the library by its names only",
	},
	"cmd/resilientgen": {May: []string{"gen"}, Why: "flags and exit codes only"},
	"cmd/resilientvet": {
		May: []string{"gen/vet", "golang.org/x/tools/go/analysis/..."},
		Why: "flags and exit codes only",
	},

	"internal/houserules": {Why: "test support"},
	"internal/mutation":   {May: []string{"golang.org/x/tools/go/packages"}, Why: "test support"},
	"internal/readme":     {Why: "test support"},
	"internal/testmodule": {Why: "test support"},
	"internal/marker":     {Why: "test support"},

	"internal/schemacost": {Why: leaf},
}

// Sentinels lists packages of which the core may use nothing but the names given: an error to compare with is no
// knowledge of a database.
var Sentinels = map[string][]string{
	"database/sql": {"ErrNoRows"},
}

// SentinelsOnly lists the folders where Sentinels holds.
var SentinelsOnly = []string{"resilient", "resilient/breaker"}

// Unworked lists the modules that go.work leaves out on purpose.
var Unworked = []string{
	"bench/fleet", "bench/gen", "bench/sanitize",
	"docs/recipes/adk", "docs/recipes/anthropic", "docs/recipes/genkit", "docs/recipes/mcpgo", "docs/recipes/openai",
	"gen/corpus", "tools",
}
