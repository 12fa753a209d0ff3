package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Explained is what a policy comes to, for people and for programs. A policies.Explanation
// is one. Of its JSON, "schedule" is drawn.
type Explained interface {
	fmt.Stringer
	json.Marshaler
}

// Options wire a dashboard to the program round it. A nil *Options is valid, and so is the
// zero value: a board that shows circuits, counts nothing and steers nothing. It is copied
// by [New]. Its functions are called concurrently, with no lock held.
type Options struct {
	// Title stands at the top of the page. "" means "Circuits".
	Title string
	// Meter has counted the calls that are shown: the one that is among the Observers of
	// the guards. Nil shows no traffic and no transitions.
	Meter *Meter
	// Explain says what a guard's policy comes to, by the name that the Source has for it.
	// A *policies.Registry can:
	//
	//	func(name string) dashboard.Explained { return services.Explain(name) }
	//
	// Nil shows the bare policy, and no picture.
	Explain func(name string) Explained
	// Control lets people steer circuits: it says who sent a request, or returns an error
	// if that person may not. An empty author may not either. Requests from pages of other
	// origins do not reach it; but a page can let its own name lead to this address (DNS
	// rebinding), so where no credentials are asked for, look at r.Host. Nil means that nobody may: there is nothing to press then,
	// and nowhere to send it.
	Control func(r *http.Request) (author string, err error)
	// Audit is told of each order, those among them that were refused. Nil tells nobody
	// but the Logger, which is told always. What it panics with is logged.
	Audit func(ctx context.Context, action Action)
	// Logger takes a record of each order. Nil means slog.Default(), as it is at that moment.
	Logger *slog.Logger
	// MaxClients is how many pages may be live at a time; to further ones the answer is 503.
	// 0 and less mean 32.
	MaxClients int
}

// Action is an order that somebody gave, or tried to. Secrets are taken out of its texts.
type Action struct {
	// At is when.
	At time.Time
	// Service is the guard's name; as it was asked for, if there is no such guard.
	Service string
	// Kind is "force-open", "force-closed", "disable", "release" or "reset"; "" if it was
	// refused before that was read.
	Kind string
	// Author is who gave it, as Options.Control has it; "" if that is not known.
	Author string
	// Reason is why, in the author's words.
	Reason string
	// For is how long it holds; 0 for a release or a reset.
	For time.Duration
	// Err is why nothing came of it; nil if it was carried out.
	Err error
}

const (
	defaultTitle      = "Circuits"
	defaultMaxClients = 32
)

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.Default()
}
