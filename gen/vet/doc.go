// Package vet holds the analyzers of cmd/resilientvet. They find what compiles and is wrong: a write that is retried, a
// context that is dropped on the way into a guarded function, a future nobody waits for.
//
// Each analyzer stays silent where it cannot be sure. What it deliberately does not see is said in the comment of its
// file.
//
// Guarded functions are recognised by types: they are the function arguments of Execute, Do, Async and the Wrap family of
// package resilient, whether written in place, kept in a variable, or declared elsewhere in the same package. What the
// directives of a service interface say travels from package to package as facts.
package vet
