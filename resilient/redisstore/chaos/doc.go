// Package chaos holds the tests of the shared circuit, and of the agents' tools that stand
// on it, that need real servers and real processes: servers that are killed, stopped,
// flushed and failed over, networks that are cut, and histories that are checked for
// linearizability.
//
// They need a redis-server on the PATH (make redis). Where there is none they fail if CI
// or STOIC_REDIS=required is set, and say what did not run elsewhere. STOIC_NIGHTLY=1
// runs them at length.
package chaos
