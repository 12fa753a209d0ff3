package plans

import (
	"context"
	"io"
	"net/http"
)

type local interface {
	//resilient:idempotent
	Find(ctx context.Context) error
	Store(ctx context.Context) error
	//resilient:skip
	Check(ctx context.Context) error
	List(ctx context.Context) error
}

// Defined is a service that is declared as an interface of its package.
//
//resilient:service defined
//resilient:idempotent List
type Defined local

// Again is declared as a service.
type Again Defined

// Other is declared as one of another name.
type Other Service

// OfOne is declared as an instance.
type OfOne Store[string, int]

// Wide embeds a service.
type Wide interface {
	Service
	Extra(ctx context.Context) error
}

// Alike is another name for somebody else's interface.
//
//resilient:service alike
//resilient:idempotent Read,Mark
type Alike = Foreign

// Copies is a service that is declared as an interface with directives for others, which may or may not count.
//
//resilient:service copies
//resilient:idempotent Change
type Copies Part

type unread interface {
	Copy(ctx context.Context, from io.Reader) error
	Upload(ctx context.Context, from io.ReadSeeker) error
	Send(*http.Request) (int, error)
	Open(ctx context.Context) (io.ReadCloser, error)
}

// Transfers has methods that cannot be annotated as they are.
//
//resilient:service transfers
type Transfers unread
