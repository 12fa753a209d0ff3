// Package gen writes resilient wrappers for service interfaces: typed, thin, and
// right or refused.
//
// [Run] loads packages, finds the interfaces that carry //resilient:service (package
// directive says which directives there are), judges every method by its types, and
// returns the files to write, what it refuses, and what it has to say. It writes
// nothing itself: a [File] knows whether it differs from what is on disk, and writes
// itself in one step.
//
// The way through the package: load → find (targets and their directives) → judge
// (what becomes of each method) → name (every identifier, before anything is printed)
// → print. What is printed calls package resilient; no algorithm is ever written
// into a program.
package gen
