package einoguard

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
	"github.com/seed42274fcc/stoic/sanitize"
)

// stream calls a tool whose result comes in chunks. The permit ends with the stream. Only
// who passes the chunks on can tell whether a stream was left by its reader, so there is a
// goroutine for each stream of a tool that is watched.
func stream[T any](ctx context.Context, c call, say func(string) T, fn func(context.Context) (*schema.StreamReader[T], error)) (*schema.StreamReader[T], error) {
	permit, err := c.begin(ctx)
	if err != nil {
		text, err := c.refusal(err)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]T{say(text)}), nil
	}
	if !permit.Watched() {
		return fn(permit.Context())
	}
	p := &pump[T]{call: c, permit: permit, ctx: permit.Context()}
	p.waits.Store(true)
	p.over = sync.OnceFunc(watch(p.ctx, p.timeUp))
	returned := false
	defer func() {
		if !returned { // a panic or the end of the goroutine
			p.end(toolguard.Error)
		}
	}()
	in, err := fn(p.ctx)
	returned = true
	if err != nil || in == nil {
		p.settle(err)
		return in, err
	}
	p.in = in
	return p.start(), nil
}

// pump passes a tool's chunks on.
type pump[T any] struct {
	call   call
	permit *toolguard.Permit
	ctx    context.Context // the permit's
	over   func()
	in     *schema.StreamReader[T]
	out    *schema.StreamWriter[T]
	waits  atomic.Bool // for the tool, and not for the reader
	chunks []T         // for Classify
}

// start returns the stream for the reader. Eino leaves streams unread and open when
// another call of the same answer fails; the pump must not wait for their readers for
// ever. The conversion keeps the reader alive for as long as somebody has its own.
func (p *pump[T]) start() *schema.StreamReader[T] {
	reader, out := schema.Pipe[T](0)
	reader.SetAutomaticClose()
	p.out = out
	go p.run()
	return schema.StreamReaderWithConvert(reader, func(chunk T) (T, error) { return chunk, nil })
}

func (p *pump[T]) run() {
	defer p.out.Close()
	defer p.in.Close()
	returned := false
	defer func() {
		if returned {
			return
		}
		// Somebody else's code has panicked or ended the goroutine: without the guard that
		// would have been the reader's.
		value := recover()
		p.end(toolguard.Error)
		var none T
		p.out.Send(none, fmt.Errorf("einoguard: the stream of tool %q has ended in a panic: %s",
			sanitize.Message(p.call.called), sanitize.Message(fmt.Sprint(value))))
	}()
	p.pass()
	returned = true
}

// pass passes on what comes, until the end of the stream or of its reader.
func (p *pump[T]) pass() {
	for {
		p.waits.Store(true)
		chunk, err := p.in.Recv()
		p.waits.Store(false)
		if err == io.EOF { // what wraps it is an error, to eino as well
			p.settle(nil)
			return
		}
		p.note(chunk, err)
		if p.out.Send(chunk, err) {
			p.end(toolguard.Interrupted)
			return
		}
	}
}

// note takes a chunk, or an error in the middle: that is the tool's, unless it says that
// one of several streams in one has ended.
func (p *pump[T]) note(chunk T, err error) {
	if err == nil {
		if p.call.guard.classifies {
			p.chunks = append(p.chunks, chunk)
		}
		return
	}
	if _, partly := schema.GetSourceName(err); !partly {
		p.settle(err)
	}
}

// timeUp ends the permit when the time of the tool or of its caller is over. Where the
// tool has done its part, and the reader has not taken it, there is no verdict.
func (p *pump[T]) timeUp() {
	if p.waits.Load() {
		p.permit.EndResult(nil, context.Cause(p.ctx))
		return
	}
	p.permit.End(toolguard.Interrupted)
}

func (p *pump[T]) settle(err error) {
	p.over()
	var value any
	if p.chunks != nil {
		value = p.chunks
	}
	p.call.settle(p.ctx, p.permit, value, err)
}

func (p *pump[T]) end(o toolguard.Outcome) {
	p.over()
	p.permit.End(o)
}
