package einoguard

import (
	"context"
	"io"

	"github.com/cloudwego/eino/schema"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// stream calls a tool whose result comes in chunks. The permit ends with the stream, and
// that must not depend on its reader: eino leaves streams unread and open when another
// call of the same answer fails, or when the run is cancelled. So the guard reads a copy,
// in a goroutine for each stream of a tool that is watched, which ends with the stream.
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
	l := newListener[T](c, permit)
	handed := false
	defer func() {
		if !handed {
			l.abandon()
		}
	}()
	reader, err := fn(l.ctx)
	if err != nil {
		l.settle(err)
		return reader, err
	}
	if reader == nil { // on which eino panics: the tool has failed
		return nil, nil
	}
	copies := reader.Copy(2)
	handed = true
	go l.listen(copies[1])
	return l.counted(copies[0]), nil
}

// listener hears what comes of a stream.
type listener[T any] struct {
	call   call
	permit *toolguard.Permit
	ctx    context.Context // the permit's
	over   func()
	ended  bool
	done   chan struct{} // closed when the permit has ended
	chunks []T           // for Classify
}

func newListener[T any](c call, permit *toolguard.Permit) *listener[T] {
	return &listener[T]{call: c, permit: permit, ctx: permit.Context(), over: limit(permit), done: make(chan struct{})}
}

// counted lets who finds the end of a stream find it counted. The listener gets what its
// reader gets, and waits for nobody.
func (l *listener[T]) counted(reader *schema.StreamReader[T]) *schema.StreamReader[T] {
	return schema.StreamReaderWithConvert(reader,
		func(chunk T) (T, error) { return chunk, nil },
		schema.WithErrWrapper(func(err error) error {
			if !partly(err) {
				<-l.done
			}
			return err
		}),
		schema.WithOnEOF(func() (any, error) {
			<-l.done
			return nil, io.EOF
		}))
}

// partly reports whether an error says no more than that one of several streams in one
// has ended.
func partly(err error) bool {
	_, is := schema.GetSourceName(err)
	return is
}

// listen hears a stream until it ends, or fails: then nothing that comes after matters.
func (l *listener[T]) listen(reader *schema.StreamReader[T]) {
	defer close(l.done)
	defer reader.Close()
	defer l.contain()
	for {
		chunk, err := reader.Recv()
		switch {
		case partly(err): // goes on
		case err == io.EOF: // what wraps it is an error, to eino as well
			l.settle(nil)
			return
		case err != nil:
			l.settle(err)
			return
		case l.call.guard.classifies:
			l.chunks = append(l.chunks, chunk)
		}
	}
}

// settle ends the permit with what the stream came to.
func (l *listener[T]) settle(err error) {
	l.ended = true
	l.over()
	var value any
	if l.chunks != nil {
		value = l.chunks
	}
	l.call.settle(l.ctx, l.permit, value, err)
}

// abandon ends the permit where a panic or the end of the goroutine has come before.
func (l *listener[T]) abandon() {
	if !l.ended {
		l.over()
		l.permit.End(toolguard.Error)
	}
}

// contain is for the panic of a stream, which its reader will learn of by an error: this
// goroutine is nobody's.
func (l *listener[T]) contain() {
	_ = recover()
	l.abandon()
}
