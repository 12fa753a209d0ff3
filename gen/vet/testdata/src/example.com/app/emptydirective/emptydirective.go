package emptydirective

import (
	"context"
	"io"
	"net/http"

	"github.com/seed42274fcc/stoic/resilient"
)

//resilient:service good
//resilient:timeout 2s Get
type Good interface {
	//resilient:idempotent
	Get(ctx context.Context) error
}

// A note on resilience: service interfaces are small. The resilient: idempotent prefix is explained elsewhere.

/* want `is not a directive: there is a space after //` */ // resilient:service spaced
type Spaced interface {
	Get(ctx context.Context) error
}

//resilient:service misspelt
type Misspelt interface {
	/* want `//resilient:idempotant is not a directive` */ //resilient:idempotant
	Get(ctx context.Context) error
}

/* want `Structure is a struct` */ //resilient:service structure
type Structure struct{}

/* want `//resilient:idempotent does nothing here: unsaid has no //resilient:service` */ //resilient:idempotent Get
type unsaid interface {
	Get(ctx context.Context) error
}

// Part is embedded in services, here or elsewhere.
type Part interface {
	//resilient:idempotent
	Get(ctx context.Context) error
}

type named Structure

/* want `//resilient:service does nothing here: Other is no interface` */ //resilient:service named
type Other named

//resilient:service list
/* want `//resilient:idempotent does nothing here: List has no method Lost` */ //resilient:idempotent Get,Lost
type List interface{ Good }

type (
	//resilient:service inGroup
	InGroup interface{ Get() error }
)

type Trailing interface {
	Get(ctx context.Context) error //resilient:idempotent // want `it trails what it is about`
}

/* want `it stands on a function` */ //resilient:service function
func function()                      {}

//resilient:service streams
//resilient:stream Listed
type Streams interface {
	/* want `the name watch does nothing here: a stream is opened under a permit, which has no op` */ //resilient:op watch
	//resilient:stream
	Watch(ctx context.Context) (string, error)
	/* want `the name listed does nothing here` */ //resilient:op listed
	Listed(ctx context.Context) (string, error)
	/* want `the name body does nothing here` */ //resilient:op body
	Body(ctx context.Context) (io.ReadCloser, error)
	/* want `the name trip does nothing here` */ //resilient:op trip
	Trip(*http.Request) (*http.Response, error)
	/* want `the name feed does nothing here` */ //resilient:op feed
	Feed(ctx context.Context) (<-chan int, error)

	//resilient:op ctx=b
	//resilient:stream
	Choose(a, b context.Context) (string, error)
	//resilient:op get
	Get(ctx context.Context) (string, error)
}

var _ = resilient.MarkIdempotent(Good.Get)

var _, _ = resilient.MarkIdempotent(Good.Get), func() int {
	resilient.MarkIdempotent(Good.Get)
	return 0
}

func init() {
	_ = resilient.MarkIdempotent(Good.Get) // want `MarkIdempotent does nothing here: it is read where it gives a package variable its value`
	func() {
		var _ = resilient.MarkIdempotent(Good.Get) // want `MarkIdempotent does nothing here`
	}()
}

type closer struct{ io.Closer }

//resilient:service opens
type Opens interface {
	/* want `the name open does nothing here` */ //resilient:op open
	Open(ctx context.Context) (*closer, error)
}
