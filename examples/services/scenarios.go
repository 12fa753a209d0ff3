package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// scenario is one thing that the platform goes through.
type scenario struct {
	name     string
	expected string // written down here; nothing computes it
	run      func(ctx context.Context, p *platform) (seen string, err error)
}

var scenarios = []scenario{
	{"a read recovers by retry", "plan-1, 3 requests, 2 retries logged", readRecovers},
	{"a connection reset is retried", "plan-1, 2 requests", resetIsRetried},
	{"bad and truncated JSON is retried", "plan-1, 3 requests", badJSONIsRetried},
	{"a write is not repeated", "status 503, 1 request, applied 0 times", writeIsNotRepeated},
	{"nor is one whose answer is lost", "connection reset, 1 request, applied once", lostAnswerIsNotRepeated},
	{"an idempotent write is repeated", "ok, 2 requests, 1 document", idempotentWriteIsRepeated},
	{"a wrong key is not retried", "status 401, 1 request, 1 failure", wrongKeyIsPermanent},
	{"what is missing is an answer", "status 404, 6 requests, closed", missingIsAnAnswer},
	{"a 429 is obeyed", "plan-1, 2 requests, a second apart", hintIsObeyed},
	{"too long a wait ends the call", "status 503, 1 request, not before 1m0s", longHintEndsTheCall},

	{"a hang is cut and tried again", "about tea, 2 requests, 1 cut", hangIsCut},
	{"a slow body is cut and tried again", "about tea, 2 requests, 1 cut", slowBodyIsCut},
	{"a total timeout ends all attempts", "2 attempts, total timeout of 500ms", totalTimeout},
	{"a future is over on time", "1 attempt, total timeout of 150ms", futureIsOverOnTime},
	{"an async fan-out", "5 found, 6 requests, 5 at once", fanOut},

	{"an outage opens the circuit", "5 requests, 10 rejected, 1 probe, healed", outageHeals},
	{"half-open admits one of 20 callers", "1 request, 1 answered, 19 rejected", oneProbe},
	{"a failed probe doubles the open time", "1 request, open for 800ms", failedProbe},
	{"cancelled callers do not count", "6 cancelled, 0 failures, closed", cancellationIsNeutral},
	{"expired deadlines do", "5 expired, 5 failures, open", deadlineIsFailure},
	{"streams share the circuit", "4 events, 5 broken off, rejected: open", streamsShareTheCircuit},
	{"a stream is opened once", "4 events, 5 refused, 5 requests, rejected: open", streamIsOpenedOnce},
	{"a skipped method passes the circuit", "rejected: open, ping ok", skippedMethod},
	{"a circuit that is switched off", "8 failed, 8 requests, disabled", disabledCircuit},

	{"three services nested", "3 requests, plan_lifecycle_service gave up", nestedChain},
	{"the same without the nesting guard", "27 requests", detachedChain},
	{"a tool in a read-only phase", "planning 1 request, execution 3", toolInReadOnlyPhase},

	{"a session file in use is waited for", "restored, 1 retry logged", lockedFile},
	{"a missing session is an answer", "6 times no such session, closed", missingSession},

	{"an unknown service falls back", "3 requests, 100ms apart, same guard", unknownService},
	{"a bad override stops nothing", "2 findings, plan 3, vector_store 4", badOverride},

	{"a secret in an error reaches no log", "6 received, 0 logged, 0 shown, masked", secretStays},
}

// fleetScenarios are those with several processes.
var fleetScenarios = []scenario{
	{"replicas stop with the first of them", "5 requests, all rejected, 0 more", inFleet(fleetStops)},
	{"one probe in the whole fleet", "1 request, 1 answered, the others rejected, all closed", inFleet(fleetProbes)},
	{"an order holds for all replicas", "0 requests, all rejected, then all ok", inFleet(fleetObeys)},
}

// report is a scenario that was performed.
type report struct {
	scenario
	seen string
	took time.Duration
}

// longestScenario ends a scenario that waits for something that does not come, so that the others have their turn.
const longestScenario = 5 * time.Second

// perform runs a scenario on a platform of its own.
func perform(ctx context.Context, s scenario, logs *journal, shared sharing) report {
	ctx, cancel := context.WithTimeout(ctx, longestScenario)
	defer cancel()
	began := time.Now()
	p, err := newPlatform(logs, shared)
	seen := ""
	if err == nil {
		seen, err = s.run(ctx, p)
		err = errors.Join(err, p.close())
	}
	if err != nil {
		seen = "error: " + err.Error()
	}
	return report{scenario: s, seen: seen, took: time.Since(began)}
}

// describe says what kind of error a call ended with: the way for a program to tell them apart.
func describe(err error) string {
	// The outermost first: that a call gave up says more than why its last attempt failed.
	if exhausted, ok := errors.AsType[*resilient.ExhaustedError](err); ok {
		if timeout, ok := errors.AsType[*resilient.TimeoutError](exhausted.Limit); ok {
			return fmt.Sprintf("%s, %v", count(exhausted.Attempts, "attempt"), timeout)
		}
		return "gave up after " + count(exhausted.Attempts, "attempt")
	}
	if rejected, ok := errors.AsType[*resilient.RejectedError](err); ok {
		return fmt.Sprintf("rejected: %v", rejected.State)
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		return fmt.Sprintf("status %d", status.code)
	}
	switch {
	case err == nil:
		return "ok"
	case isReset(err):
		return "connection reset"
	default:
		return err.Error()
	}
}

// count writes "1 request", "2 requests".
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun[len(noun)-1] == 'y':
		return fmt.Sprintf("%d %sies", n, noun[:len(noun)-1])
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}

// gap returns the shortest time between two requests that follow each other.
func gap(c counts) time.Duration {
	var shortest time.Duration
	for i := 1; i < len(c.arrivals); i++ {
		if d := c.arrivals[i].Sub(c.arrivals[i-1]); i == 1 || d < shortest {
			shortest = d
		}
	}
	return shortest
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
