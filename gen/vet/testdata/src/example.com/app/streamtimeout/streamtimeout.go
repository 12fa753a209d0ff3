package streamtimeout

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"iter"
	"net"
	"net/http"
	"os"

	"github.com/seed42274fcc/stoic/resilient"
)

type object struct {
	Size int
	Body io.ReadCloser
}

func buffered(o *object) (*object, error) { return o, nil }

type store struct{ db *sql.DB }

func (s *store) open(ctx context.Context, key string) (io.ReadCloser, error) { return nil, nil }
func (s *store) object(ctx context.Context, key string) (*object, error)     { return nil, nil }
func (s *store) all(ctx context.Context) iter.Seq[string]                    { return nil }
func (s *store) rows(ctx context.Context) (*sql.Rows, error) {
	return s.db.QueryContext(ctx, "select 1")
}

func (s *store) faults(ctx context.Context, g *resilient.Guard, op resilient.Op, external func(context.Context) (*sql.Rows, error)) {
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*http.Response, error) { // want `the guarded function returns a stream \(\*http.Response, with its body\)`
		request, err := http.NewRequestWithContext(ctx, "GET", "http://localhost", nil)
		if err != nil {
			return nil, err
		}
		return http.DefaultClient.Do(request)
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (io.ReadCloser, error) { // want `returns a stream \(io.ReadCloser\)`
		body, err := s.open(ctx, "k")
		if err != nil {
			return nil, err
		}
		return body, nil
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*object, error) { // want `returns a stream \(\*streamtimeout.object, with its body\)`
		return s.object(ctx, "k")
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (iter.Seq[string], error) { // want `returns a stream \(an iterator\)`
		return s.all(ctx), nil
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (io.ReadCloser, error) { // want `returns a stream \(io.ReadCloser\)`
		request, err := http.NewRequestWithContext(ctx, "GET", "http://localhost", nil)
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		return response.Body, nil
	})
	_ = resilient.Wrap0(g, op, s.rows)                                                 // want `returns a stream \(\*sql.Rows\)`
	_ = resilient.Wrap0(g, op, external)                                               // want `returns a stream \(\*sql.Rows\)`
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*sql.Row, error) { // want `returns a stream \(\*sql.Row\)`
		return s.db.QueryRowContext(ctx, "select 1"), nil
	})
}

func (s *store) clean(ctx context.Context, g *resilient.Guard, op resilient.Op, external func(context.Context) (io.ReadCloser, error)) {
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*http.Response, error) {
		request, _ := http.NewRequestWithContext(ctx, "GET", "http://localhost", nil)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		all, err := io.ReadAll(response.Body)
		response.Body = io.NopCloser(bytes.NewReader(all))
		return response, err
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (io.ReadCloser, error) { return os.Open("k") })
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*object, error) { return &object{}, nil })
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", "localhost:1")
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) ([]byte, error) {
		body, err := s.open(ctx, "k")
		if err != nil {
			return nil, err
		}
		defer body.Close()
		return io.ReadAll(body)
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*object, error) {
		o, err := s.object(ctx, "k")
		if err != nil {
			return nil, err
		}
		return buffered(o)
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*http.Response, error) {
		request, err := http.NewRequest("GET", "http://localhost", nil) // not the context's, which is another fault
		if err != nil {
			return nil, err
		}
		return http.DefaultClient.Do(request)
	})
	_, _ = resilient.Execute(ctx, g, op, external) // nobody knows what it hangs on
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (io.ReadCloser, error) {
		return s.open(context.WithoutCancel(ctx), "k")
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*resilient.Held, error) { // made to outlive the call
		held := resilient.Hold(ctx)
		held.Keep()
		return held, nil
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (io.ReadCloser, error) {
		held := resilient.Hold(ctx)
		body, err := s.open(held, "k")
		held.Keep()
		return body, err
	})
}

type watch interface {
	Stop()
	ResultChan() <-chan string
}

type feed struct{ Events chan string }

// connection lives on when the context that it was made with has ended.
type connection struct {
	Failed chan error
	Over   chan struct{}
	inner  chan string
}

func (connection) Stop()                 {}
func (connection) Errors() <-chan error  { return nil }
func (connection) Done() <-chan struct{} { return nil }

type session interface {
	context.Context
	Commit() error
}

type recursive []recursive

func open[T any](ctx context.Context) (t T, err error) { return t, ctx.Err() }

func others(ctx context.Context, g *resilient.Guard, op resilient.Op, external func(context.Context) (watch, error)) {
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (watch, error) { return open[watch](ctx) })                               // want `returns a stream \(streamtimeout.watch, with its channel\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*feed, error) { return open[*feed](ctx) })                               // want `returns a stream \(\*streamtimeout.feed, with its channel\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (feed, error) { return open[feed](ctx) })                                 // want `returns a stream \(streamtimeout.feed, with its channel\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) ([]io.ReadCloser, error) { return open[[]io.ReadCloser](ctx) })           // want `returns a stream \(\[\]io.ReadCloser\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (map[string]*object, error) { return open[map[string]*object](ctx) })     // want `returns a stream \(map\[string\]\*streamtimeout.object\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (session, error) { return open[session](ctx) })                           // want `returns a stream \(streamtimeout.session, a context\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (context.Context, error) { return ctx, nil })                             // want `returns a stream \(context.Context, a context\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (func(func(int) bool), error) { return open[func(func(int) bool)](ctx) }) // want `returns a stream \(an iterator\)`

	_ = resilient.Wrap0(g, op, external)
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (connection, error) { return open[connection](ctx) })
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (recursive, error) { return open[recursive](ctx) })
	_ = resilient.Wrap0(g, op, func(ctx context.Context) ([]net.Conn, error) { return open[[]net.Conn](ctx) })
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (context.Context, error) { return context.WithoutCancel(ctx), nil })
}

func (s *store) read(ctx context.Context, g *resilient.Guard, op resilient.Op, key string) {
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*http.Response, error) { // its header is what is wanted
		request, err := http.NewRequestWithContext(ctx, "GET", key, nil)
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		return response, nil
	})
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*http.Response, error) {
		response, err := s.get(ctx, key)
		if err != nil {
			return nil, err
		}
		return response, response.Body.Close()
	})
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (io.ReadCloser, error) {
		body, err := s.open(ctx, key)
		if err != nil {
			return nil, err
		}
		var all bytes.Buffer
		if _, err := all.ReadFrom(body); err != nil {
			return nil, err
		}
		return body, nil
	})
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*http.Response, error) { // no body comes back
		request, err := http.NewRequestWithContext(ctx, http.MethodHead, key, nil)
		if err != nil {
			return nil, err
		}
		return http.DefaultClient.Do(request)
	})
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*http.Response, error) { // want `returns a stream`
		response, err := s.get(ctx, key)
		if err != nil {
			return nil, err
		}
		if response.StatusCode != http.StatusOK {
			response.Body.Close()
			return nil, failed(response)
		}
		return response, nil
	})
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (response *http.Response, err error) { // want `returns a stream`
		response, err = s.get(ctx, key)
		return
	})
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*sql.Tx, error) { return s.db.BeginTx(ctx, nil) }) // want `returns a stream \(\*sql.Tx\)`
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*sql.Conn, error) { return s.db.Conn(ctx) })
	_ = resilient.Wrap0(g, op, func(ctx context.Context) (*sql.Stmt, error) { return s.db.PrepareContext(ctx, key) })
	_ = resilient.Wrap0(resilient.Passthrough(), op, s.rows) // which gives it the caller's own context
}

func (s *store) get(ctx context.Context, key string) (*http.Response, error) { return nil, nil }

func failed(*http.Response) error { return nil }
