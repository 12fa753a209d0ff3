package stalegen

import "context"

//resilient:service fresh
type Fresh interface {
	//resilient:idempotent
	Get(ctx context.Context, id string) error
}

//resilient:service stale
type Stale interface {
	//resilient:idempotent
	Get(ctx context.Context, id string) error
}

type Plain interface{ Get() error }

// Derived is declared as a service, and none itself.
type Derived Fresh
