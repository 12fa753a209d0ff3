// Package breaker is the circuit: what decides, for one dependency, whether an
// attempt may be made, and what learns from each attempt's outcome.
//
// Most programs never import it: package resilient puts a circuit round every
// guarded call. Import it to watch a dependency that is not called through a
// function (a stream, a queue, an agent's tool), or to read a circuit's state.
//
//	circuit, err := breaker.New("search", breaker.DefaultSettings(), nil)
//	permit, rejected := circuit.Acquire(circuit.Now(), 0)
//	if rejected != nil {
//		return rejected
//	}
//	err = search()
//	circuit.Settle(permit, breaker.OutcomeOf(err), err)
//
// # How it works
//
// A [Machine] holds the rules and nothing else: no clock, no lock, no I/O. A
// [Circuit] is a Machine behind a mutex, with what callers need most published
// behind one atomic pointer, so that a healthy circuit costs one atomic load to
// enter and one to leave. While the circuit is closed, failures are counted by
// github.com/sony/gobreaker/v2, which says when to trip; the recovery is ours.
//
// What opens a circuit is in its [Settings], each rule alone or with others: so many
// failures in a row (the default), a share of failures or of slow calls among those of a
// [Settings].Window. A share costs each success one atomic addition more; who settles
// with [Circuit.SettleSince] tells how long a call took. [Transition].Rule says which rule
// it was. With Settings.Observe all of that is only noted, and nothing is refused.
//
// One rule carries the rest: a result counts only in the [Permit]'s own round,
// and in half-open also only with its own token, within its lease. The round
// grows with every transition, so a late result can neither open, close nor
// delay anything.
//
// # A circuit for many processes
//
// A circuit with a [Store] shares its state with all that have one of the same name
// there. [Record.Apply] is the protocol: what the machine is to one process, in one
// function without clock, lock or I/O, for a fleet. The circuit keeps the store's last
// word in its own machine, so that what costs nothing alone costs nothing shared: a
// healthy call and a rejection ask nobody. A failure is one command, a probe two. While
// the store cannot be asked the circuit goes on with the machine as it is, and marks the
// rounds that it makes by itself, so that no result of them is taken for one of the
// fleet's. A share is each process's own, over its own calls, and no outcome is a command
// because of it; a process that finds it reached opens by itself and votes, and the
// others follow, at once or when there are Settings.MinReporters. A circuit that observes
// keeps to itself. [Snapshot].Sharing says how it stands. [MemoryStore] is a store in this
// process; package redisstore has the one for a fleet.
//
// There is no timer and no goroutine: the state is derived from what is stored
// and the time now, so a circuit that nobody calls is not wrong, only unread.
package breaker
