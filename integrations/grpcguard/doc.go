// Package grpcguard puts guards round gRPC: into a client, as interceptors that repeat
// what may be repeated and give a broken server a rest, and into a server, as interceptors
// that let the retries of a chain of services not multiply.
//
//	guarded, err := grpcguard.NewClient(&grpcguard.Options{Guards: registry})
//	…
//	conn, err := grpc.NewClient(target, append(guarded.DialOptions(), creds)...)
//
//	server := grpc.NewServer(grpcguard.ServerOptions(grpcguard.Anyone)...)
//
// # In a client
//
// Each unary call is one guarded call. Its guard has the name of the service
// ("shop.v1.Orders") unless [Options].Name says otherwise, its op that of the method.
//
// What may be repeated: a method whose option idempotency_level is NO_SIDE_EFFECTS or
// IDEMPOTENT, as generated code has it registered, unless [Options].Op says otherwise.
// Nothing else is.
//
// What a status means: [Status] says it by its code, [Options].Classify before it. A
// failure is repeated. A RetryInfo among its details is the least wait before the next
// attempt; one that is longer than the policy's MaxRetryAfter or the time left ends the
// call.
//
// What the caller gets: the status of the last attempt, as it is, or an ExhaustedError
// round it with the same code and details. A refusal by the circuit is Unavailable, and
// a context that was over before is Canceled or DeadlineExceeded; errors.As finds the
// guard's own errors in them.
//
// The opening of a stream is one attempt under a permit, without retry and without a time
// limit of the guard's. It is judged by the first message or header that comes, or by
// what ends the stream before; what happens later is for the caller to judge.
//
// The deadline is gRPC's own: that of an attempt's context reaches the server as such.
// With WaitForReady a call waits for a connection until then, so give attempts a timeout.
//
// # What gRPC repeats by itself
//
// gRPC repeats by itself what has certainly not reached a server's handler, once, or as
// often as it likes where it has not left the client ("transparent retries"). That is
// part of one attempt here. A retryPolicy in a service config repeats what has: it
// multiplies with the guard's attempts, and it knows nothing of a call above that retries.
// Leave it out, or switch it off by grpc.WithDisableRetry.
//
// # Across processes
//
// Where a running guarded call may repeat what runs in it, the client says so to the
// server in one key of the metadata, resilience-scope (see [nesting.Wire]; without left,
// since the deadline is gRPC's). The server's interceptors put the handler's context
// inside of these calls. So a guard in there makes one attempt, and a failure is repeated
// once, at the outermost: with three attempts and three services, 3 calls at the last one
// and not 27.
//
// A server believes the key only of whom it trusts, since it holds the server's own
// retries down: [UnaryServer] asks a function for each call, and drops the key without
// one. A client keeps it from servers that it is no business of with [Options].External.
package grpcguard
