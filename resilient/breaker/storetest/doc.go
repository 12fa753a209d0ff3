// Package storetest checks whether a [breaker.Store] keeps the rules.
//
// Each rule of the Store's comment is one check, by a name. A check sends commands
// through several clients of one state and compares every answer with what
// [breaker.Record.Apply] makes of the same command at the answer's own time; where
// commands run at once, it looks for an order in which Apply explains all answers. So a
// check needs no clock of its own and asserts no speed: what must not be over yet lasts
// an hour, and what must be over lasts two milliseconds, by settings and leases that
// only the check uses.
//
// What a store can be asked for only by the test that knows it (to forget, to lose
// replies, to set its clock back) is a field of [Harness]. A check that needs one that
// is nil says so in the test's log and is not made.
//
// Circuits have names that are made at random, but for a few in the check of names, so
// that a state which outlives the test does no harm.
package storetest
