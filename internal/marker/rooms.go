package marker

// Rooms are all packages that say something. Those that say nothing of what comes from outside are in [Silent].
var Rooms = []Room{
	{
		Folder: "resilient", Test: "TestSecretsLeaveThroughNoSink",
		Inputs: []string{
			"service name", "operation name", "error", "wrapped error", "joined errors", "error with fields", "panic value",
			"marked error", "hint", "check's error", "classifier's panic", "observer's panic", "budget name", "context's cause",
			"store's error", "operator's author and reason", "told cause",
		},
		Unseen: []string{"arguments"},
		Sinks: []string{
			"log at debug", "ExhaustedError", "RejectedError", "NoAnswerError", "PanicError", "policy error",
			"AttemptDone", "RetryScheduled", "order's error", "CallDone", "CallRejected", "LateResult", "FellOver", "CircuitChanged", "StoreChanged",
			"names", "nesting path", "nesting on the wire", "snapshot", "answer", "replay",
		},
	},
	{
		Folder: "policies", Test: "TestNoSecretLeavesTheRegistry",
		Inputs: []string{
			"name of a service", "key of a document", "known budget name", "name that is asked", "file name",
		},
		Unseen: []string{"budget name", "value", "malformed document", "environment"},
		Sinks: []string{
			"finding", "Explain as text", "Explain as JSON", "explanation", "chain", "guard's name", "change", "ReloadError",
			"Watch's error", "error of defaults", "error of a prefix", "log at debug",
		},
	},
	{
		Folder: "resilient/toolguard", Test: "TestNoSecretLeavesTheTools",
		Inputs: []string{
			"tool name", "other tool's name", "key", "tool's error", "store's error", "panic of options", "operator's author and reason",
		},
		Unseen: []string{"session", "arguments", "check's error"},
		Sinks: []string{
			"RefusedError", "RefusedError.Message", "what it wraps", "Notice", "ToolChanged", "circuit name", "snapshot", "order's error",
			"stored record", "error of options", "log at debug",
		},
	},
	{
		Folder: "resilient/httpguard", Test: "TestNoSecretLeavesARequest",
		Inputs: []string{"URL", "guard's name", "operation", "request's header", "transport's error", "path on the wire"},
		Unseen: []string{"response's header", "response's body"},
		Sinks: []string{
			"event", "scope on the wire", "nesting path", "ExhaustedError", "RejectedError", "StatusError", "error of options",
			"log at debug",
		},
	},
	{
		Folder: "resilient/resilienttest", Test: "TestNoSecretLeavesTheReplay",
		Inputs: []string{"operation name", "second's error", "probe's error", "panic of a probe"},
		Sinks:  []string{"report"},
	},
	{
		Folder: "resilient/dashboard", Test: "TestNoSecretIsServed",
		Inputs: []string{"guard's name", "error", "store's error", "author", "reason", "who may not", "unknown name", "panic of Audit"},
		Unseen: []string{"operation", "unknown action"},
		Sinks:  []string{"page of a guard", "index", "frames", "metrics", "audit", "answer to an order", "log at debug"},
	},
	{
		Folder: "resilient/redisstore", Test: "TestNoSecretIsStored",
		Inputs: []string{"guard's name", "operation", "error", "panic of options", "operator's author and reason"},
		Unseen: []string{"URL", "malformed URL", "stored nonsense"},
		Sinks: []string{
			"stored key", "stored field", "published news", "list", "event", "error", "error of the URL", "log at debug",
		},
	},
	{
		Folder: "integrations/otelguard", Test: "TestNoSecretIsExported",
		Inputs: []string{"guard's name", "operation", "error"},
		Unseen: []string{"budget name", "store's error", "operator's author and reason"},
		Sinks:  []string{"span", "span event", "metrics"},
	},
	{
		Folder: "integrations/mcpguard", Test: "TestNoSecretReachesTheModel",
		Inputs: []string{"tool's error", "tool's name"},
		Unseen: []string{"arguments"},
		Sinks:  []string{"result of a refused call", "Notice", "log at debug"},
	},
	{
		Folder: "integrations/einoguard", Test: "TestNoSecretReachesTheModel",
		Inputs: []string{"tool's error", "tool's name"},
		Unseen: []string{"arguments"},
		Sinks:  []string{"result of a refused call", "log at debug"},
	},
	{
		Folder: "integrations/grpcguard", Test: "TestNoSecretLeavesACall",
		Inputs: []string{"guard's name", "operation", "text of a status", "path on the wire"},
		Unseen: []string{"metadata"},
		Sinks: []string{
			"event", "scope on the wire", "nesting path", "ExhaustedError", "RejectedError", "error of options", "log at debug",
		},
	},
	{
		Folder: "cmd/resilientctl", Test: "TestNoSecretIsPrinted",
		Inputs: []string{
			"circuit's name", "cause", "author and reason", "service", "document", "text to redact", "flag",
			"URL", "environment",
		},
		Sinks: []string{
			"circuits", "circuits as JSON", "explain", "explain as JSON", "validate", "plot", "redact", "errors",
		},
	},
}

// Silent are packages that say nothing of their own of what a running program handles, each with why; "x/..." is x and
// everything below it.
var Silent = map[string]string{
	"sanitize":                       "takes secrets out: its own tests hold it to what must go and what must stay",
	"nesting":                        "names come into it clean, from guards and from what restores a scope: see those",
	"resilient/breaker":              "is seen through resilient and resilient/toolguard, whose circuits it has",
	"resilient/breaker/storetest":    "is for tests, of stores",
	"resilient/internal/journal":     "writes the records of resilient and resilient/toolguard",
	"resilient/dashboard/browser":    "is for tests",
	"resilient/redisstore/chaos/...": "is for tests",
	"gen/...":                        "sees source code, and no running program",
	"cmd/resilientgen":               "sees source code, and no running program",
	"cmd/resilientvet":               "sees source code, and no running program",
	"bench/...":                      "is for measurements",
	"docs/...":                       "is a reader's to begin with",
	"examples/...":                   "is a reader's to begin with",
	"internal/...":                   "is for tests",
}
