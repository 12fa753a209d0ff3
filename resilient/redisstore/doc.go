// Package redisstore lets a fleet of processes share its circuits through Redis.
//
//	store, err := redisstore.Open("redis://redis.internal:6379/0", nil)
//	go store.Run(ctx) // news as they happen; without it, views are read again as they age
//	registry, err := policies.FromEnv("APP", &policies.Options{Store: store})
//
// All processes that are given the same Redis and the same [Options].Namespace, and
// name a circuit alike, share it: what one of them learns of a broken dependency, all
// know a moment later, and of all of them together only one probes it. [FromEnv] takes
// the address from the environment, [New] a client that is there already.
//
// # What it costs
//
// A call through a healthy circuit sends no command while [Store.Run] runs; without
// it, one process reads each circuit that is used at most once in MaxViewAge. A counted
// failure is one command, a probe two, a rejection none; a success while failures are on
// the books is one, of one call at a time. No attempt waits for Redis longer than
// [Options].Timeout before it is made, whatever happens to Redis, nor longer than that to
// report what came of it. A Redis that does not answer is asked by few calls: after three
// failures in a row no call asks it, until it has been found to answer again.
//
// # What is kept
//
// Each circuit is one hash, under the key
//
//	<namespace>:{<circuit's name>}
//
// so that all that belongs to it lies in one slot of a cluster. (Redis takes no notice of
// braces with nothing between them, so where the name is empty or begins with a closing
// one, the key is <namespace>::{-<circuit's name>}.) One Lua script for each kind of command
// reads it, decides by the time of Redis (never by a client's), writes it and answers:
// breaker.Record says what each of them does. A circuit that is not there is closed and
// healthy, so a new fleet begins with an empty Redis, and a flushed one is forgiven. A
// circuit that nobody uses is forgotten [Options].Retention after its open time, its
// leases and its force have ended.
//
// News go to the channel <namespace>:news. Beside the hash of a circuit there may be,
// for seconds, one with :probe behind that name, which is written to see whether
// Redis takes writes. A user with rights for
//
//	~<namespace>:* &<namespace>:* +@read +@write +@scripting +@pubsub +@connection +time
//
// can do all of it; a cluster wants +cluster as well. Give Redis the policy noeviction,
// or one of the volatile ones and room: see below what an evicted circuit is.
//
// # What is promised
//
//   - Each command is one atomic step. Counting the failure that is one too many and
//     opening the circuit are the same step; so are granting the first probe and
//     entering half-open. No probe is granted beyond the round's limit, no result of
//     an earlier round and none after its lease counts, be the processes' clocks as
//     they may.
//   - A command that is sent twice, since its answer was lost, counts once.
//   - Failures in a row are counted over the whole fleet, in the order in which Redis
//     hears of them.
//   - Replicas agree on a half-open round, though their policies differ: its limits are
//     those of whoever began it.
//   - What is stored and makes no sense is never obeyed. It is written anew from what a
//     process knows; what a later version of this package has written is left alone.
//
// # What is not
//
//   - Admissions and rejections by what a process knows are not linearizable, and are
//     not meant to be: they go by a view that was current at most MaxViewAge ago; while
//     [Store.Run] runs by one that is a network hop old, and should the news stop
//     coming unnoticed, by one that is at most twice MaxViewAge old. Whoever fails
//     itself is told by the answer how things stand, whatever the news.
//   - Successes of a healthy circuit are not written at all. So a run of failures may be
//     taken for unbroken though another process has succeeded in the middle of it: as
//     long as that one's view may be older than the run, and no longer. Its next success
//     is written once it has heard of a failure; and a failure of its own says that it
//     has succeeded, and begins the count anew. Options.Strict writes every outcome. And
//     one sick process may open the circuit for all, if it fails often enough before any
//     other has succeeded; with min_reporters above 1 it opens its own only.
//   - A circuit whose key vanishes while it is open (FLUSHALL, an eviction, a failover
//     to a replica that had not heard of it yet), or that was open and is forgotten since
//     nobody has called for so long, is closed, without a probe. Its round does not come
//     again, so that no result of the time before counts.
//   - While Redis cannot be used, each process goes on by itself: then there may be one
//     probe for each of them.
//   - Redis replicates asynchronously: what was answered may be lost in a failover, as
//     with everything that Redis keeps.
package redisstore
