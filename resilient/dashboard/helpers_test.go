package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

const sec = time.Second

var (
	get     = resilient.Idempotent("get")
	put     = resilient.NonIdempotent("put")
	errDown = errors.New("connection refused")
	quiet   = slog.New(slog.DiscardHandler)
)

// policy opens after three failures, for a minute, and waits a second between attempts.
func policy() resilient.Policy {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff, p.Retry.Jitter = resilient.BackoffFixed, false
	p.Circuit.FailureThreshold = 3
	return p
}

func newGuard(t testing.TB, name string, meter *dashboard.Meter) *resilient.Guard {
	t.Helper()
	return newGuardWith(t, name, policy(), meter)
}

func newGuardWith(t testing.TB, name string, p resilient.Policy, meter *dashboard.Meter) *resilient.Guard {
	t.Helper()
	options := &resilient.Options{Logger: quiet}
	if meter != nil {
		options.Observers = []resilient.Observer{meter}
	}
	g, err := resilient.NewGuard(name, p, options)
	require.NoError(t, err)
	return g
}

// call makes one call that takes so long, of real or of a bubble's time.
func call(g *resilient.Guard, op resilient.Op, took time.Duration, err error) error {
	return resilient.Do(context.Background(), g, op, func(context.Context) error {
		time.Sleep(took)
		return err
	})
}

// open lets a guard fail until its circuit is open.
func open(t testing.TB, g *resilient.Guard, err error) {
	t.Helper()
	for range g.Policy().Circuit.FailureThreshold {
		require.Error(t, call(g, put, 0, err))
	}
	require.Equal(t, "open", g.Circuit().State().String())
}

// serve asks a handler without a network.
func serve(h http.Handler, method, target string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, body)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const form = "application/x-www-form-urlencoded"

// order sends an order as a browser on the page does.
func order(h http.Handler, name string, fields url.Values, header ...string) *httptest.ResponseRecorder {
	header = append([]string{"Content-Type", form, "Sec-Fetch-Site", "same-origin"}, header...)
	return serve(h, http.MethodPost, "/guards/"+url.PathEscape(name)+"/control", strings.NewReader(fields.Encode()), header...)
}

// frame is what a page is sent, as the page reads it.
type frame struct {
	kind, id string
	bytes    int

	Now     int64              `json:"now"`
	Seconds int                `json:"seconds"`
	Guards  []tile             `json:"guards"`
	Changed map[int]tile       `json:"changed"`
	Traffic map[int][]*float64 `json:"traffic"`
	Points  map[int][]int      `json:"points"`
	News    []item             `json:"news"`
	More    int                `json:"more"`
	Broken  int                `json:"broken"`
}

type tile struct {
	Name, State, Cause, Author, Reason, Sharing string
	Generation, Failures, Probes, Spared        int
	Observe                                     bool
	Rule                                        string
	Since, Until, Failed                        int64
}

type item struct {
	At                       int64
	Name, State, Text, Cause string
}

// stream is the connection of a page, without the network.
type stream struct {
	reader *bufio.Reader
	cancel context.CancelFunc
	done   chan struct{}
}

// openStream runs in a bubble: the handler at one end of a pipe, the page at the other.
func openStream(t *testing.T, board *dashboard.Dashboard) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	s := &stream{reader: bufio.NewReader(reader), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer func() { _ = writer.Close() }()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil)
		board.ServeHTTP(&pipeWriter{to: writer, header: http.Header{}}, r)
	}()
	t.Cleanup(func() {
		cancel()
		_ = reader.Close()
		<-s.done
	})
	return s
}

type pipeWriter struct {
	to     io.Writer
	header http.Header
}

func (w *pipeWriter) Header() http.Header            { return w.header }
func (*pipeWriter) WriteHeader(int)                  { /* the body is what matters */ }
func (w *pipeWriter) Write(p []byte) (int, error)    { return w.to.Write(p) }
func (*pipeWriter) FlushError() error                { return nil }
func (*pipeWriter) SetWriteDeadline(time.Time) error { return nil }

// next reads one frame.
func (s *stream) next(t testing.TB) frame {
	t.Helper()
	f, err := readFrame(s.reader)
	require.NoError(t, err)
	return f
}

func readFrame(from *bufio.Reader) (f frame, err error) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return f, err
		}
		f.bytes += len(line)
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "event":
			f.kind = value
		case "id":
			f.id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &f); err != nil {
				return f, err
			}
		case "":
			if f.kind != "" {
				return f, nil
			}
		}
	}
}

// pipes is a network inside of a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}
