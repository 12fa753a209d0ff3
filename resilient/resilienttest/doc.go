// Package resilienttest helps to test code that makes guarded calls.
//
//   - [Script] is a dependency made to order: it fails, fails, and succeeds, hangs or
//     panics, and remembers how it was called.
//   - [Recorder] keeps the events of a guard; [Events] finds those of one type.
//   - [Replay] runs every idempotent op twice and reports those that are not what
//     they are declared to be.
//
// Where waiting is tested, run the test in a bubble of testing/synctest: backoff,
// timeouts and open circuits then take no time, and [Run].At is exact.
package resilienttest
