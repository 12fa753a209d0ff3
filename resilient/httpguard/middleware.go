package httpguard

import (
	"net/http"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Middleware returns a handler that takes the Resilience-Scope header in. Where trusted
// says so, next gets a context inside of the caller's running calls, and with the
// deadline that they have: a guarded call in there makes one attempt. From anybody else
// the header is dropped, and so is one that is not in its form, of which next sees
// nothing. They get no error: the request is served as if they had said nothing.
//
// A nil trusted trusts nobody, which is right where anybody can send requests: the header
// keeps the server from retrying, and can give it no time. [Anyone] is for servers that
// only one's own services reach.
//
// The scope counts until next returns; what it has started and goes on retries by itself.
func Middleware(next http.Handler, trusted func(r *http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, there := r.Header[nesting.Header]
		if !there {
			next.ServeHTTP(w, r)
			return
		}
		var scope nesting.Wire
		if len(values) == 1 && trusted != nil && trusted(r) {
			scope, _ = nesting.ParseWire(values[0]) // the zero value is no scope
		}
		if scope.Depth == 0 {
			header := r.Header.Clone()
			header.Del(nesting.Header)
			r = r.WithContext(r.Context())
			r.Header = header
			next.ServeHTTP(w, r)
			return
		}
		for i, name := range scope.Path {
			scope.Path[i] = sanitize.Message(name)
		}
		ctx, leave := scope.Enter(r.Context())
		defer leave()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Anyone trusts every request.
func Anyone(*http.Request) bool { return true }
