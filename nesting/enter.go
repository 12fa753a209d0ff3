package nesting

import (
	"context"
	"sync/atomic"
)

// Enter returns a context in which the calls of another process are around, and leave,
// which is to be called when what it asked for is done: the scopes count no more from
// then on, and the context ends. Left, where it is set, becomes a deadline. A wire
// without a scope leaves the scopes of ctx as they are.
//
// As scopes, such calls have their whole name for a service and no operation. Which of
// them retries is not known; the outermost stands for it.
func (w Wire) Enter(ctx context.Context) (inside context.Context, leave func()) {
	var cancel context.CancelFunc
	if w.Left > 0 {
		ctx, cancel = context.WithTimeout(ctx, w.Left)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	depth := min(w.Depth, maxDepth)
	if depth <= 0 {
		return ctx, cancel
	}
	chain := &remoteChain{outer: From(ctx), calls: make([]remoteCall, depth)}
	path := w.Path[max(0, len(w.Path)-depth):]
	for i := range chain.calls {
		call := &chain.calls[i]
		call.chain, call.index, call.name = chain, i, unnamed
		if named := i - (depth - len(path)); named >= 0 {
			call.name = path[named]
		}
	}
	return context.WithValue(ctx, Key{}, Scope(&chain.calls[depth-1])), func() {
		chain.over.Store(true)
		cancel()
	}
}

// unnamed stands for a call whose name has not crossed.
const unnamed = "…"

// remoteChain is what one request has brought with it.
type remoteChain struct {
	outer Scope
	calls []remoteCall // outermost first
	over  atomic.Bool
}

// remoteCall is a running call in another process.
type remoteCall struct {
	chain *remoteChain
	index int
	name  string
}

func (c *remoteCall) Service() string   { return c.name }
func (c *remoteCall) Operation() string { return "" }
func (c *remoteCall) Running() bool     { return !c.chain.over.Load() }
func (c *remoteCall) Retrying() bool    { return c.index == 0 }

func (c *remoteCall) Outer() Scope {
	if c.index == 0 {
		return c.chain.outer
	}
	return &c.chain.calls[c.index-1]
}
