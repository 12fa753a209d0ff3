package httpguard

import (
	"errors"
	"net/http"
	"strings"

	"github.com/seed42274fcc/stoic/resilient"
)

// Options say how a [Transport] guards requests. They are copied by [New]; the functions
// in them are called concurrently, and must not change the request or the response. What
// they panic with goes on as that panic.
type Options struct {
	// Guards finds a request's guard by its name; required. It is asked for as many names
	// as there are, so it should bound them, as a policies.Registry does, or Name should.
	// [One] has the same guard for all.
	Guards resilient.Guards
	// Name is the name of a request's guard: of what fails together, such as a host, or a
	// route of it. There should be few: never put an id, a query, or what a user has
	// entered into one. Nil, and an empty name, mean [Host].
	Name func(r *http.Request) string
	// Op describes a request, where it has an opinion: its name, whether it may be
	// repeated, its limits. Nil, and false, mean [Method].
	Op func(r *http.Request) (op resilient.Op, ok bool)
	// Classify says what a response means, where it has an opinion. Nil, and
	// OutcomeUnjudged, mean [Status]. It may look at the header, not into the body. The
	// Classify of the guard's own options is asked after it, of failures only, with a
	// *[StatusError].
	Classify func(resp *http.Response) resilient.Outcome
	// StatusErrors makes a call whose last response is a failure return an error, and no
	// response.
	StatusErrors bool
	// External reports that a request goes to a server which the names of our calls and
	// the time that they have left are no business of: the Resilience-Scope header is not
	// sent. Nil means that none does.
	External func(r *http.Request) bool
	// Next makes the attempts. Nil means http.DefaultTransport.
	Next http.RoundTripper
}

// ErrNoGuards says that the options have no guards.
var ErrNoGuards = errors.New("httpguard: Options.Guards is nil; One(guard) has the same guard for all requests")

// One has the same guard for every name: for a client of one service.
func One(guard *resilient.Guard) resilient.Guards { return one{guard} }

type one struct{ guard *resilient.Guard }

func (o one) Guard(string) *resilient.Guard { return o.guard }

// maxHost is longer than any host and port can be.
const maxHost = 260

// Host names a request's guard after its host, in lower case, with the port where the
// URL has one.
func Host(r *http.Request) string {
	host := strings.ToLower(r.URL.Host)
	if len(host) > maxHost {
		return host[:maxHost]
	}
	return host
}

// methods are the known ones, and whether they may be repeated (RFC 9110, 9.2.2).
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodOptions: true, http.MethodTrace: true,
	http.MethodPut: true, http.MethodDelete: true,
	http.MethodPost: false, http.MethodPatch: false, http.MethodConnect: false,
}

// Method describes a request by its method, GET where it has none, "other" for what HTTP
// does not know. GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be repeated, and any other
// one with an Idempotency-Key (or an X-Idempotency-Key, as net/http has it).
func Method(r *http.Request) resilient.Op {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	idempotent, known := methods[method]
	if !known {
		method = "other"
	}
	if idempotent || r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
		return resilient.Idempotent(method)
	}
	return resilient.NonIdempotent(method)
}
