// Package plans declares services that the other packages use. What its comments say reaches them as facts.
package plans

import (
	"context"
	"iter"
	"net/http"

	"github.com/seed42274fcc/stoic/resilient"
)

type Plan struct{ ID string }

//resilient:service plan_service
type Service interface {
	//resilient:idempotent
	Get(ctx context.Context, id string) (Plan, error)
	Apply(ctx context.Context, p Plan) error
	Draft(ctx context.Context, id string) (Plan, error)

	//resilient:skip
	Ping(ctx context.Context) error
	//resilient:stream
	Watch(ctx context.Context) (Events, error)
	Name() string
	Close() error
}

type Events interface{ Recv() (string, error) }

// Foreign is somebody else's interface: it says nothing.
type Foreign interface {
	Read(ctx context.Context) error
	Write(ctx context.Context) error
	Mark(ctx context.Context) error
}

//resilient:service listed
//resilient:idempotent Read
type Listed interface {
	Foreign
}

var _ = resilient.MarkIdempotent(Foreign.Mark)

//resilient:service unlisted
type Unlisted interface {
	Unreviewed
	Delete(ctx context.Context) error
}

type Unreviewed interface {
	Create(ctx context.Context) error
}

// Part has directives for those that embed it.
type Part interface {
	//resilient:idempotent
	Look(ctx context.Context) error
	Change(ctx context.Context) error
}

//resilient:service whole
//resilient:idempotent Own
type Whole interface {
	Part
	Own(ctx context.Context) error
}

// Remote is a client whose idempotency may be told where only the generator looks.
//
//resilient:service remote
//resilient:idempotent Find
type Remote interface{ RemoteClient }

//resilient:service store
type Store[K comparable, V any] interface {
	//resilient:idempotent
	Load(ctx context.Context, key K) (V, error)
	Put(ctx context.Context, key K) error
}

// Shapes has methods that a wrapper guards though they do not take a context first and return an error last.
//
//resilient:service shapes
//resilient:error Err
type Shapes interface {
	Count() error
	RoundTrip(*http.Request) (*http.Response, error)
	Try(ctx context.Context) (error, int)
	Late(id string, ctx context.Context) error
	Set(id string) *Status
	//resilient:op error=2
	Second() (error, error)
	//resilient:op shut
	Shutdown() error

	//resilient:idempotent
	Read() error
	Either() (error, error)
	Size() int
	Items() (iter.Seq[string], error)
	Later() (*resilient.Future[int], error)
	Under() context.Context
	Close() error
}

type Status struct{}

func (*Status) Err() error { return nil }

// NewResilientShapes is what resilientgen would write, but for the wrapper.
func NewResilientShapes(next Shapes, guards resilient.Guards) Shapes { return next }

type resilientService struct {
	next  Service
	guard *resilient.Guard
}

// NewResilientService is what resilientgen would write.
func NewResilientService(next Service, guards resilient.Guards) Service {
	return &resilientService{next, guards.Guard("plan_service")}
}

func (r *resilientService) Get(ctx context.Context, id string) (Plan, error) {
	return resilient.Execute(ctx, r.guard, resilient.Idempotent("Get"), func(ctx context.Context) (Plan, error) { return r.next.Get(ctx, id) })
}

func (r *resilientService) Apply(ctx context.Context, p Plan) error {
	return resilient.Do(ctx, r.guard, resilient.NonIdempotent("Apply"), func(ctx context.Context) error { return r.next.Apply(ctx, p) })
}

func (r *resilientService) Draft(ctx context.Context, id string) (Plan, error) {
	return resilient.Execute(ctx, r.guard, resilient.NonIdempotent("Draft"), func(ctx context.Context) (Plan, error) { return r.next.Draft(ctx, id) })
}

func (r *resilientService) Ping(ctx context.Context) error            { return r.next.Ping(ctx) }
func (r *resilientService) Watch(ctx context.Context) (Events, error) { return r.next.Watch(ctx) }
func (r *resilientService) Name() string                              { return r.next.Name() }
func (r *resilientService) Close() error                              { return r.next.Close() }

var _ Service = (*resilientService)(nil)
