package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func hangIsCut(ctx context.Context, p *platform) (string, error) { return cutOnce(ctx, p, hang) }

func slowBodyIsCut(ctx context.Context, p *platform) (string, error) {
	return cutOnce(ctx, p, slowBody)
}

// cutOnce lets the first attempt run into its limit, and waits until the server has noticed.
func cutOnce(ctx context.Context, p *platform, f fault) (string, error) {
	p.index.next(f)
	got, err := p.vectors.Search(ctx, "tea")
	if err != nil {
		return "", err
	}
	err = p.index.await(ctx, func(c counts) bool { return c.gone > 0 })
	return fmt.Sprintf("%s, %s, %d cut", got.ID, count(p.index.requests(), "request"), p.index.seen().gone), err
}

// The first attempt fails at once, the second hangs until the time for all of them is over.
func totalTimeout(ctx context.Context, p *platform) (string, error) {
	p.index.next(unavailable(), hang)
	_, err := p.vectors.Suggest(ctx, "tea")
	return describe(err), nil
}

// The function ignores its context. The future does not wait for it, and what comes in the end is dropped.
func futureIsOverOnTime(ctx context.Context, p *platform) (string, error) {
	release := make(chan struct{})
	p.index.next(hold(release))
	embedding := p.byHand.embed(ctx, 150*time.Millisecond, "tea")
	defer embedding.Cancel()
	_, err := embedding.Await(ctx)
	close(release)
	if err := p.index.await(ctx, func(c counts) bool { return len(c.arrivals) == 1 && c.inside == 0 }); err != nil {
		return "", err
	}
	if _, again := embedding.Await(ctx); again != err {
		return "a late result replaced the first one", nil
	}
	return describe(err), nil
}

// The server answers nobody before all five are there, so they must have been under way together. One of them is
// refused then, and tried again.
func fanOut(ctx context.Context, p *platform) (string, error) {
	p.index.next(meet(5, nil), meet(5, nil), meet(5, unavailable()), meet(5, nil), meet(5, nil))
	queries := []string{"tea", "coffee", "cocoa", "water", "juice"}
	found, err := p.byHand.gather(ctx, queries...)
	if err != nil {
		return "", err
	}
	for i, m := range found {
		if !strings.HasSuffix(m.ID, queries[i]) {
			return fmt.Sprintf("%q for %q", m.ID, queries[i]), nil
		}
	}
	return fmt.Sprintf("%d found, %s, %d at once", len(found), count(p.index.requests(), "request"),
		p.index.seen().peak), nil
}
