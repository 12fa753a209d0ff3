// Package toolguard keeps broken tools away from a model.
//
// A model calls a broken tool again and again, since from where it stands one failure
// looks incidental. A [Guard] has a circuit for each tool: when it has failed three times
// in a row, the tool is withheld from the list that the model receives, for a minute, and
// for longer each time that it turns out to be broken still. Then one turn sees it again,
// and what becomes of that one call decides. With a store ([Options].Store), one in the
// whole fleet.
//
//	guard, err := toolguard.New(&toolguard.Options{MonitorAll: true, Exclude: []string{"final_answer"}})
//	…
//	turn := guard.Turn(ctx, names)                      // before each request to the model
//	offered := toolguard.Filter(turn, tools, nameOf)    // a copy, or tools itself
//	…                                                   // the model answers
//	result, err := toolguard.Call(turn.Context(ctx), guard, "search", arguments, search)
//	var refused *toolguard.RefusedError
//	if errors.As(err, &refused) {
//		answer(refused.Message())                       // as the tool's normal result
//	}
//	turn.Close()                                        // gives back what was not used
//
// # A list and a guard
//
// Filtering is not enough: a model that remembers a tool calls it although it is not in
// the list, and frameworks run it. So there is a pair: [Filter] on the list, [Call] or
// [Guard.Begin] on the call. What the guard refuses is an error for the program and a
// normal result for the model: a model that gets an error tries again.
//
// Where the list must not change, [Options].Mode masks it ([Mask], see [Turn.Allowed]) or
// leaves it at refusing ([GuardOnly]). A server without turns calls Begin alone.
//
// # What counts
//
// Only an [Error] counts against a tool. A permission that was refused, a caller who gave
// up, a call that waits for somebody, arguments that make no sense say nothing about it,
// and give a probe's place back at once. [Call] has the whole list; [WithOutcome] and
// [Options].Classify say what types do not. A call that takes longer than the tool's
// Timeout is an Error: a backend that hangs would otherwise look like a caller who gave
// up. So is one that a circuit inside of the tool rejects: to the model, that is a tool that
// fails again and again.
//
// A tool that does not exist is not known: in a turn, its names say what exists; without
// one, state begins with the first Error of a tool that is watched. Where there is a
// store, a tool that Monitor names takes part in the fleet from its first call on, and
// one that only MonitorAll covers from its first turn or its first Error on.
//
// # What the model is told
//
// [RefusedError.Message] and [Turn.Notice] are short, have their secrets taken out, and
// say only what is so: which tool, until when, what else there is. No error of a tool is
// in them.
//
// # Cost
//
// A turn over healthy tools makes two allocations, takes no lock but a shared one for
// reading, and asks no store while its news arrive; where there is no store and nothing
// has failed, it does not look at the tools at all. A call of a tool that is watched has
// a context of its own, with a timer. No goroutine is started.
package toolguard
