// Package behave wraps clients that many programs use, the way a program would, and its tests call the wrappers round
// fakes: what is idempotent is repeated after a failure, and nothing else is.
//
// The wrappers are not kept in the repository: make corpus generates them first, so that they are what the generator of
// the day writes.
package behave

//go:generate go run github.com/seed42274fcc/stoic/cmd/resilientgen
