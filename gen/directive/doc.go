// Package directive reads the comments that tell resilientgen how to wrap an
// interface: //resilient:service, //resilient:idempotent and their like.
//
// What directives there are is data ([Forms]). [Read] finds those of a file and what
// they stand on. What looks like a directive but is none — a space, a capital, a
// misspelling, a comment that belongs to nothing — is a [Problem] with its place and
// the way out: a directive that is passed over in silence would be a method that is
// retried, or is not, against what its author wrote.
//
// It knows syntax only. Whether a directive fits the method's types is for package
// gen to judge.
package directive
