// Package resilient makes calls that fail, fail well.
//
// A [Guard] protects one service. Round each call it puts retries where they are
// safe, one limit for the whole time, a circuit breaker that heals by itself, and a
// guard against retries inside retries:
//
//	plans, err := resilient.NewGuard("plan_service", resilient.DefaultPolicy(), nil)
//	…
//	plan, err := resilient.Execute(ctx, plans, resilient.Idempotent("get_plan"),
//		func(ctx context.Context) (Plan, error) { return client.GetPlan(ctx, id) })
//
// # The pieces
//
//   - [Policy] is data: how a service is protected. [DefaultPolicy] is the start.
//     Package policies loads one per service from the environment.
//   - [Options] is wiring: classifier, observers, logger.
//   - [Op] says what one call does, above all whether it may be repeated.
//   - [Execute], [Do], [Async] and the [Wrap] family make the call; [Guard.Acquire]
//     hands out a permit for work that is not one function, and [Hold] a context for
//     a result that outlives its call. Package httpguard does both for HTTP.
//   - [FirstOf] goes from one provider to the next until one answers.
//   - [Permanent], [Neutral], [RetryAfter] and [Throttled] mark an error for every
//     guard that sees it; [Check] makes an error of a bad result.
//   - A [Budget] bounds the retries of several guards together; a [Switch] turns
//     retries or circuits off in an incident.
//   - [ExhaustedError], [RejectedError] and [TimeoutError] say what ended a call
//     that did not end by itself.
//   - [Observer] is told of everything; the log tells of retries and of the circuit.
//   - Package resilienttest has what tests need, and finds wrong annotations.
//
// # One pipeline
//
// Every call takes the same way, in this order:
//
//	total timeout ⊃ nesting scope ⊃ retry ⊃ circuit permit ⊃ attempt timeout ⊃ function
//
// Each attempt asks the circuit for a permit of its own, so that retries cannot
// pass an open circuit. Only retries inside of retries collapse: under a running
// call that retries, an inner call is made once, still through its own circuit and
// with its own limits.
//
// # Cost
//
// A call that succeeds at once allocates its context and nothing else, reads the
// clock once and takes no lock. A rejection allocates nothing. A guard has no
// goroutine.
package resilient
