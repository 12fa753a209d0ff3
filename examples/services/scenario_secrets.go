package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// leak is what a server says when it explains too much.
const leak = "dial postgres://app:hunter2@db:5432/plans: refused; api_key=sk-live-4242 was tried"

// secrets are the parts of it that nobody may see.
var secrets = []string{"hunter2", "sk-live-4242"}

func isSecret(text string) bool {
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return true
		}
	}
	return false
}

// secretStays sends the secret along every way that an error takes: retries, an opening circuit, a rejection, events, a
// panic, the application's own log. The original error stays what it is, so that a program can still look into it.
func secretStays(ctx context.Context, p *platform) (string, error) {
	p.provider.fail(status(500, leak))
	received, shown, masked := 0, 0, false
	look := func(texts ...string) {
		for _, text := range texts {
			masked = masked || strings.Contains(text, "***")
			if isSecret(text) {
				shown++
			}
		}
	}
	meet := func(err error) {
		if original, ok := errors.AsType[*statusError](err); ok && isSecret(original.text) {
			received++
		}
		// What the library has made of it can be shown as it is. What the function itself returned comes back
		// untouched; an application's logger sanitises it, and so does whoever shows it.
		p.log.Error("call failed", slog.Any("error", err))
		if isOurs(err) {
			p.logs.plain().Error("call failed", slog.Any("error", err))
		} else {
			err = sanitize.Error(err)
		}
		look(err.Error(), fmt.Sprintf("%+v", err))
	}

	meet(p.plans.Apply(ctx, plan{ID: "plan-1"})) // one attempt: the error as it is
	for range 4 {                                // used up, opening, rejected, rejected
		_, err := p.plans.Get(ctx, "plan-1")
		meet(err)
	}
	meet(p.panics(ctx))
	look(p.eventTexts()...)

	logged := 0
	for line := range strings.Lines(p.logged()) {
		masked = masked || strings.Contains(line, "***")
		if isSecret(line) {
			logged++
		}
	}
	seen := fmt.Sprintf("%d received, %d logged, %d shown", received, logged, shown)
	if masked {
		seen += ", masked"
	}
	return seen, nil
}

// panics makes a call whose function panics with the error.
func (p *platform) panics(ctx context.Context) error {
	guard := p.registry.Guard("trace_service")
	future := resilient.Async(ctx, guard, resilient.Idempotent("trace"), func(ctx context.Context) (int, error) {
		if err := p.byHand.plans.Apply(ctx, plan{ID: "plan-1"}); err != nil {
			panic(err)
		}
		return 0, nil
	})
	defer future.Cancel()
	_, err := future.Await(ctx)
	return err
}

// isOurs reports whether the library has made the error.
func isOurs(err error) bool {
	switch err.(type) {
	case *resilient.ExhaustedError, *resilient.RejectedError, *resilient.PanicError:
		return true
	default:
		return false
	}
}
