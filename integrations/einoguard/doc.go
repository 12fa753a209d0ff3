// Package einoguard keeps broken tools away from the models of agents that are made with
// eino (github.com/cloudwego/eino, its package adk). What a circuit for each tool is, and
// what the options say, is in the package toolguard; here it is put into agents.
//
//	guard, err := einoguard.New(&toolguard.Options{MonitorAll: true})
//	…
//	guard.Protect(config)                       // an *adk.ChatModelAgentConfig
//	agent, err := adk.NewChatModelAgent(ctx, config)
//
// A tool whose circuit is open is missing in what the model is offered, and a model that
// calls it nevertheless gets a normal result that says until when it is not to be had and
// what else there is. It is no error: eino ends the run at an error, and applications
// that tell it to the model have a model that tries again. The tool is not run.
//
// # The list
//
// Each request to the model is a turn, one that is repeated too. What the agent has
// registered, and its state, stay as they are: the request gets a list of its own with
// the same elements, or the very same one where nothing is left out. One turn, in the
// whole fleet if there is a store, sees the tool whose cooldown is over. What its answer
// does not use is free again when the calls that it asks for have begun; when it asks for
// none, or the model fails, at once; otherwise with the next request, or when the run's
// context is over. So cancel that context when a run is stopped between an answer and its
// calls: else the tool's ProbeLease has to be over first.
//
// In the mode Mask the list stays, and the request's tool choice has the names that the
// model may choose; in GuardOnly it stays without.
//
// # The calls
//
// The guard is on all four kinds of calls that eino has. Types decide what a call says
// about its tool, and never a text:
//
//   - an interrupt, of the tool or of a graph or an agent inside of it, is Running. What
//     goes on after it is a new call, without a turn: it asks for a permit of its own
//   - a caller who cancels is Interrupted, by the context or by eino's own cancellation
//   - an error of a call whose arguments do not fit the tool's schema is Ignored: eino
//     has no type for it, so the schema is asked, unless it refers to itself or to others:
//     who follows such a schema may not come to an end
//   - a call that takes longer than the tool's Timeout is an Error, from that moment on,
//     whether the tool heeds its context or not
//   - a stream is what it ends as: at its end it is judged by all of its chunks, and an
//     error in the middle is the tool's. That does not depend on who reads it, and a
//     stream that its reader closes is heard to its end. The Timeout is that of the whole
//   - anything else is judged as [toolguard.Call] judges it
//
// The Options' Classify is given a string or a *schema.ToolResult, of streams a slice of
// them; CheckArguments is not asked. A tool that does not exist is no concern of the
// guard's: eino asks no middleware.
//
// # What is never withheld
//
// Eino's own tools for exit and hand-over, the Exit tool of a configuration that is given
// to [Guard.Protect], and the tool that a request insists on by its tool choice, as is
// done for structured output: without these an agent cannot finish. They are not watched.
// Exclude what else an agent cannot do without.
//
// # Its place
//
// The guard is to be the last of an agent's Handlers, and Protect puts it there: nearest
// to the tools, where an error is still an error, and to the model, where the list is
// complete. Retries of the model and of other middleware are outside of it.
//
// An agent that is another's tool is a tool like any other, and may take longer than the
// Timeout of 30 s: give it its own in [toolguard.Options].Tools. The refusal of a tool
// that returns directly is the agent's answer.
package einoguard
