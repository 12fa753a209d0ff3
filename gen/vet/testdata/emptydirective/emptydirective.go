package emptydirective

import "context"

//resilient:service good
//resilient:timeout 2s Get
type Good interface {
	//resilient:idempotent
	Get(ctx context.Context) error
}

// A note on resilience: service interfaces are small. The resilient: idempotent prefix is explained elsewhere.

// resilient:service spaced // want `is not a directive: there is a space after //`
type Spaced interface {
	Get(ctx context.Context) error
}

//resilient:service misspelt
type Misspelt interface {
	//resilient:idempotant // want `//resilient:idempotant is not a directive`
	Get(ctx context.Context) error
}

//resilient:service structure // want `Structure is a struct`
type Structure struct{}

type unsaid interface {
	//resilient:idempotent // want `//resilient:idempotent does nothing here: unsaid has no //resilient:service`
	Get(ctx context.Context) error
}

type named Structure

//resilient:service named // want `//resilient:service does nothing here: Other is no interface`
type Other named

//resilient:service list
//resilient:idempotent Get,Lost // want `//resilient:idempotent does nothing here: List has no method Lost`
type List interface{ Good }

//resilient:service function // want `it stands on a function`
func function() {}
