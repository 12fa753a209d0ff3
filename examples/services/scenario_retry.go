package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

func readRecovers(ctx context.Context, p *platform) (string, error) {
	p.provider.next(unavailable(), unavailable())
	got, err := p.plans.Get(ctx, "plan-1")
	return fmt.Sprintf("%s, %s, %s logged", got.ID, count(p.provider.requests(), "request"),
		count(p.retries(), "retry")), err
}

func resetIsRetried(ctx context.Context, p *platform) (string, error) {
	p.provider.next(reset)
	got, err := p.plans.Get(ctx, "plan-1")
	return fmt.Sprintf("%s, %s", got.ID, count(p.provider.requests(), "request")), err
}

func badJSONIsRetried(ctx context.Context, p *platform) (string, error) {
	p.provider.next(badJSON, truncated)
	got, err := p.plans.Get(ctx, "plan-1")
	return fmt.Sprintf("%s, %s", got.ID, count(p.provider.requests(), "request")), err
}

func writeIsNotRepeated(ctx context.Context, p *platform) (string, error) {
	p.provider.next(unavailable())
	err := p.plans.Apply(ctx, plan{ID: "plan-1"})
	return applied(p, err), nil
}

// The server has done the work when the connection breaks. The client cannot know; a retry would do it twice.
func lostAnswerIsNotRepeated(ctx context.Context, p *platform) (string, error) {
	p.provider.next(resetAfterWork)
	err := p.plans.Apply(ctx, plan{ID: "plan-1"})
	return applied(p, err), nil
}

func applied(p *platform, err error) string {
	times := "once"
	if n := p.provider.applied.Load(); n != 1 {
		times = fmt.Sprintf("%d times", n)
	}
	return fmt.Sprintf("%s, %s, applied %s", describe(err), count(p.provider.requests(), "request"), times)
}

func idempotentWriteIsRepeated(ctx context.Context, p *platform) (string, error) {
	p.index.next(resetAfterWork)
	err := p.vectors.Put(ctx, "doc-1", "tea is a drink")
	return fmt.Sprintf("%s, %s, %s", describe(err), count(p.index.requests(), "request"),
		count(p.index.stored(), "document")), nil
}

func wrongKeyIsPermanent(ctx context.Context, p *platform) (string, error) {
	plans := newPlanService(p.registry, p.provider.url, "k-of-somebody-else")
	_, err := plans.Get(ctx, "plan-1")
	failures := p.registry.Guard("plan_service").Circuit().Snapshot().Failures
	return fmt.Sprintf("%s, %s, %s", describe(err), count(p.provider.requests(), "request"),
		count(failures, "failure")), nil
}

// More calls than the circuit has patience for, and none of them counts.
func missingIsAnAnswer(ctx context.Context, p *platform) (string, error) {
	var err error
	for range 6 {
		_, err = p.plans.Get(ctx, "missing")
	}
	return fmt.Sprintf("%s, %s, %s", describe(err), count(p.provider.requests(), "request"),
		p.state("plan_service")), nil
}

func hintIsObeyed(ctx context.Context, p *platform) (string, error) {
	p.provider.next(tooMany(1))
	got, err := p.plans.Get(ctx, "plan-1")
	apart := "a second apart"
	if d := gap(p.provider.seen()); d < time.Second {
		apart = fmt.Sprintf("only %v apart", d)
	}
	return fmt.Sprintf("%s, %s, %s", got.ID, count(p.provider.requests(), "request"), apart), err
}

// A minute is more than max_retry_after allows, which is max_delay where nothing else is said. The caller learns how
// long it would have been.
func longHintEndsTheCall(ctx context.Context, p *platform) (string, error) {
	p.provider.next(unavailableFor(60))
	_, err := p.plans.Get(ctx, "plan-1")
	exhausted, ok := errors.AsType[*resilient.ExhaustedError](err)
	if !ok || exhausted.Reason != resilient.ReasonRetryAfter {
		return describe(err), nil
	}
	return fmt.Sprintf("%s, %s, not before %v", describe(exhausted.Last), count(p.provider.requests(), "request"),
		exhausted.RetryAfter), nil
}

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }
