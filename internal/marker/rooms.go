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
}

// Silent are packages that say nothing, each with why.
var Silent = map[string]string{}
