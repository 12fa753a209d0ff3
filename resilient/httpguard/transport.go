package httpguard

import (
	"net/http"

	"github.com/seed42274fcc/stoic/resilient"
)

// Transport is an http.RoundTripper whose requests are guarded calls. Make it with [New],
// once, and keep it. It is safe for concurrent use, and has no goroutine. The zero value
// and nil are not usable: their requests fail with [resilient.ErrNilGuard].
type Transport struct {
	options Options
	next    http.RoundTripper
}

// New makes a transport. It returns an error where the options have no guards.
func New(options *Options) (*Transport, error) {
	if options == nil || options.Guards == nil {
		return nil, ErrNoGuards
	}
	t := &Transport{options: *options, next: options.Next}
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	return t, nil
}

// RoundTrip makes a guarded call of the request; see the package's documentation for
// what is repeated, and for what is returned.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t == nil || t.next == nil {
		closeBody(r)
		return nil, resilient.ErrNilGuard
	}
	if r.URL == nil || r.URL.Host == "" { // whose host would be to blame?
		return t.next.RoundTrip(r)
	}
	x := &exchange{transport: t, request: r}
	defer x.giveUp()
	x.guard = t.options.Guards.Guard(t.name(r))
	return x.result(resilient.Do(r.Context(), x.guard, t.op(r), x.attempt))
}

// CloseIdleConnections closes those of the transport that makes the attempts, as
// http.Client's method of that name asks for.
func (t *Transport) CloseIdleConnections() {
	if t == nil {
		return
	}
	if next, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

func (t *Transport) name(r *http.Request) string {
	if t.options.Name != nil {
		if name := t.options.Name(r); name != "" {
			return name
		}
	}
	return Host(r)
}

func (t *Transport) op(r *http.Request) resilient.Op {
	op, ok := resilient.Op{}, false
	if t.options.Op != nil {
		op, ok = t.options.Op(r)
	}
	if !ok {
		op = Method(r)
	}
	if hasBody(r) && r.GetBody == nil {
		op = op.Once()
	}
	return op
}

// classify says what a response means.
func (t *Transport) classify(resp *http.Response) resilient.Outcome {
	if t.options.Classify != nil {
		switch outcome := t.options.Classify(resp); outcome {
		case resilient.OutcomeSuccess, resilient.OutcomeFailure, resilient.OutcomeNeutral:
			return outcome
		}
	}
	return Status(resp.StatusCode)
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// closeBody closes a request's body, as a RoundTripper has to whatever happens.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
