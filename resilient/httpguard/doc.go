// Package httpguard puts guards round HTTP: into a client, as an [http.RoundTripper]
// that repeats what may be repeated and gives a broken server a rest, and into a server,
// as a [Middleware] that lets the retries of a chain of services not multiply.
//
// # In a client
//
//	transport, err := httpguard.New(&httpguard.Options{Guards: registry})
//	…
//	client := &http.Client{Transport: transport}
//
// Each request is one guarded call. Its guard has the name of the host unless
// [Options].Name says otherwise, its op the name of the method.
//
// What may be repeated: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and what has an
// Idempotency-Key, unless [Options].Op says otherwise. A body is sent anew from the
// request's GetBody, which http.NewRequest sets for what is in memory; a request whose
// body cannot be had a second time is made once, whatever it is.
//
// What a response means: [Status] says it by its code, [Options].Classify before it. A
// failure is repeated. A Retry-After of a failure, in seconds or as a date, is the least
// wait before the next attempt; one that is longer than the policy's MaxRetryAfter or
// the time left, and one that nobody can read, ends the call.
//
// What the caller gets: the response of the last attempt, whatever its status, as
// http.RoundTripper has it and as the clients of most services expect it; [Check] says
// what the guard made of it. With [Options].StatusErrors a failure is an error instead,
// with the status, the header and the beginning of the body in a *[StatusError]. There
// is an error where there is no response: that of the transport, an ExhaustedError, a
// RejectedError. A caller who has given up gets an error, too. An http.Client puts the
// URL in front of all these, its query included: where that may hold a secret, log what
// sanitize.Error makes of the error.
//
// The body of a response is readable after the call has returned. Its context ends when
// it is closed or read to its end, with the caller's context, or when the total timeout
// is over: the attempt timeout is one for the header. What a body comes to is for the
// caller to judge; for the circuit the attempt is over with the header. Of an attempt
// that is to be repeated at most 64 KiB of the body are read, for at most 500 ms, so that
// its connection can be used again. The response of an attempt that ended the call
// unexpectedly, since the circuit opened, say, has no more than those, and its body ends
// with io.ErrUnexpectedEOF if there were more.
//
// net/http repeats by itself what did not reach a server over a connection that was kept
// open. That is part of one attempt here. Redirects are the client's: each hop is a
// call of its own.
//
// # Across processes
//
// Where a running guarded call may repeat what runs in it, the transport says so to the
// server in one header, Resilience-Scope (see [nesting.Wire]): how deep the calls are,
// their names, and how many milliseconds are left. The server's [Middleware] puts the
// handler's context inside of these calls. So a guard in there makes one attempt, and a
// failure is repeated once, at the outermost, instead of at each level: with three
// attempts and three services, 3 requests at the last one and not 27.
//
// A server believes the header only of whom it trusts, since it holds the server's own
// retries down and gives it a deadline: [Middleware] asks a function for each request,
// and drops the header without one. A client keeps it from servers that it is no
// business of with [Options].External. The transport writes the header itself; one that
// the request has already is dropped.
//
// # Cost
//
// A GET over the loopback makes about 100 allocations with a guard and about 60 without:
// two contexts with a timer each (the attempt's, and the one that outlives the call), the
// copies of the request and its header, the header's text. The middleware adds none where
// there is no header, and about 12 where there is one.
package httpguard
