package emptydirective

import "context"

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
