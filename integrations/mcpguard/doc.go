// Package mcpguard keeps broken tools away from a model, over the Model Context Protocol
// and its Go SDK (github.com/modelcontextprotocol/go-sdk). What a circuit for each tool
// is, and what the options say, is in the package toolguard; here it is put into servers
// and behind client sessions.
//
// # In a server
//
//	guard, err := mcpguard.New(&toolguard.Options{MonitorAll: true, Store: store})
//	…
//	guard.Protect(server)
//
// A tool whose circuit is open is missing in what tools/list returns, and a client that
// calls it nevertheless gets a normal result that says until when it is not to be had and
// what else there is: no error, since a model that gets an error tries again. The tool is
// not run. Neither its neighbours nor the server's registrations notice anything. The one
// exception is a tool with an output schema: its refusal has the same text and IsError, since
// many clients take a result without the structured content that it promises for a fault, and
// the text is lost. [MetaKeyRefused] marks both.
//
// A list is no turn: nobody knows when its client will use it. So a tool that may be
// tried again is in every list, and the first call is the probe; those that come while it
// runs are refused.
//
// Each session is told once, by notifications/tools/list_changed, when the list has
// changed: when a circuit opens, when its cooldown is over (there is a timer for it, since
// nothing else would bring a client to look), and when it closes before. From version
// 2026-07-28 of the protocol on, sessions are told that have subscribed. A server that
// promises no such news, or a mode that leaves the list as it is, sends none. A client
// may keep a list that lacks a tool for no longer than the tool is withheld.
//
// The Options' Key and Session are asked with the context of the request, in which the SDK
// puts no session. Middleware that is added to the server after Protect comes before the
// guard: let it put there what they need, such as the session's ID.
//
// # Behind a client session
//
//	session := guard.Client(plain, nil)
//	…
//	turn, err := session.Turn(ctx)              // before each request to the model
//	offered := turn.Tools()                     // a copy; the SDK's cache keeps the whole list
//	result, err := turn.CallTool(ctx, params)   // a refusal is a result, and no error
//	turn.Close()                                // gives back what was not used
//
// That is for agents: one turn, in the whole fleet if there is a store, sees the tool
// whose cooldown is over. What else a turn knows (Notice, Allowed, Withheld) is there,
// too. [Session.CallTool] without a turn claims what is due when it is called.
//
// A circuit is that of a tool, by its name, and never of a server: one tool that fails
// says nothing about the next. Where two servers have tools of the same name, give one
// session a [ClientOptions].Prefix.
//
// # What a call says about its tool
//
// Types decide, and never a text:
//
//   - a result with IsError is an Error. In the server it is judged by the handler's own
//     error: a mark by toolguard.WithOutcome, a resilient.RetryAfter on it count
//   - a result with IsError of a call whose arguments do not fit the tool's schema is
//     Ignored: the SDK has no type for it, so the schema is asked, unless it refers to
//     itself or to others: who follows such a schema may not come to an end
//   - a JSON-RPC error of -32602 (invalid params; a tool that does not exist, too) or
//     -32601 is Ignored, one of -32042 (a page has to be visited first) is Running, and
//     every other one is an Error, a dead server's -32005 among them
//   - a result that has [MetaKeyRefused], of the guard that a server has itself, is Ignored
//   - a result that needs input is Running, and so is a call whose time is over while the
//     client is asked something
//   - a caller that gives up is Interrupted
//   - a call that takes longer than the tool's Timeout is an Error, from that moment on,
//     whether the tool heeds its context or not
//   - anything else is judged as [toolguard.Call] judges it
//
// The Timeout is to be shorter than what the clients wait, 60 s in many: their deadline
// reaches a server as a plain cancellation. It includes the time in which a client is
// asked: give a tool that asks people a longer one, in [toolguard.Options].Tools. The
// Options' Classify is given the *mcp.CallToolResult; CheckArguments is not asked.
//
// # What it does not do
//
// A refusal has no structured content, since there is none. A list with pages is
// filtered by page, and MaxWithheldShare is one of a page. A server whose HTTP sessions
// end with each request tells only those that have subscribed. Where the Options have a
// Key, all sessions are told, also those of other keys. A guard in a server and one behind
// a session with it must not share circuits, by a store or because they are the same: the
// server would refuse the client's probe. Give the session a Prefix.
package mcpguard
