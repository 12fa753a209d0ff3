package idempotentop

import (
	"context"
	"net/http"
	"time"

	. "github.com/seed42274fcc/stoic/resilient"

	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

var applyOp = resilient.Idempotent("apply").WithTotalTimeout(time.Second)

func faults(ctx context.Context, g *resilient.Guard, s plans.Service, p plans.Plan) {
	_ = resilient.Do(ctx, g, resilient.Idempotent("apply"), func(ctx context.Context) error { // want `Service.Apply is not annotated idempotent`
		return s.Apply(ctx, p)
	})
	_ = resilient.WrapErr(g, resilient.Idempotent("apply").WithAttemptTimeout(time.Second), s.Apply) // want `Service.Apply is not annotated idempotent`
	_ = resilient.WrapErr[plans.Plan](g, applyOp, s.Apply)                                           // want `Service.Apply is not annotated idempotent`

	op := resilient.Idempotent("draft")
	draft := func(ctx context.Context) (plans.Plan, error) { return s.Draft(ctx, "x") }
	_, _ = resilient.Execute(ctx, g, op, draft)                                  // want `Service.Draft is not annotated idempotent`
	_, _ = Execute(ctx, g, Idempotent("draft"), draft)                           // want `Service.Draft is not annotated idempotent`
	defer resilient.Async(ctx, g, (resilient.Idempotent)("d"), (draft)).Cancel() // want `Service.Draft is not annotated idempotent`
}

type repository struct {
	plans.Service
	store  plans.Store[string, int]
	lists  plans.Listed
	some   plans.Unlisted
	remote plans.Remote
	whole  interface {
		plans.Whole
	}
	parts localWhole
}

func (r *repository) faults(ctx context.Context, g *resilient.Guard) {
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), r.Apply)     // want `Service.Apply is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("put"), r.store.Put)   // want `Store.Put is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("w"), r.lists.Write)  // want `Listed.Write is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("c"), r.parts.Change) // want `localWhole.Change is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("c"), r.whole.Change) // want `Whole.Change is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("w"), r.some.Delete)  // want `Unlisted.Delete is not`
}

// localWhole embeds an interface of another package, whose directives it may or may not take.
//
//resilient:service local_whole
//resilient:idempotent Own
type localWhole interface {
	plans.Part
	Own(ctx context.Context) error
}

// client has the same methods, and nothing is said about it.
type client struct{}

func (client) Apply(ctx context.Context, p plans.Plan) error { return nil }

type applier interface {
	Apply(ctx context.Context, p plans.Plan) error
}

func clean(ctx context.Context, g *resilient.Guard, r *repository, s plans.Service, c client, a applier, unknown resilient.Op, w plans.Whole) {
	_ = resilient.Wrap(g, resilient.Idempotent("get"), s.Get)
	_ = resilient.WrapErr(g, resilient.NonIdempotent("apply"), s.Apply)
	_ = resilient.WrapErr(g, unknown, s.Apply)
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), c.Apply)
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), a.Apply)
	_ = resilient.WrapErr0(g, resilient.Idempotent("ping"), s.Ping)
	_ = resilient.Wrap(g, resilient.Idempotent("load"), r.store.Load)
	_ = resilient.WrapErr0(g, resilient.Idempotent("read"), r.lists.Read)
	_ = resilient.WrapErr0(g, resilient.Idempotent("look"), w.Look)
	_ = resilient.WrapErr0(g, resilient.Idempotent("look"), r.parts.Look)
	_ = resilient.WrapErr0(g, resilient.Idempotent("own"), r.parts.Own)
	_ = resilient.WrapErr0(g, resilient.Idempotent("seek"), r.remote.Seek)
	_ = resilient.WrapErr0(g, resilient.Idempotent("mark"), r.lists.Mark)
	_ = resilient.WrapErr0(g, resilient.Idempotent("create"), r.some.Create) // inherited, and nobody looked at it
	_ = resilient.Do(ctx, g, resilient.Idempotent("close"), func(context.Context) error { return s.Close() })

	op := resilient.Idempotent("either")
	if ctx.Err() != nil {
		op = resilient.NonIdempotent("either")
	}
	_ = resilient.WrapErr(g, op, s.Apply)
}

func shapes(ctx context.Context, g *resilient.Guard, s plans.Shapes) {
	_ = resilient.Do(ctx, g, resilient.Idempotent("count"), func(context.Context) error { return s.Count() })      // want `Shapes.Count is not annotated idempotent, and this op says that it may be repeated: use NonIdempotent, or annotate the method`
	_, _ = resilient.Execute(ctx, g, resilient.Idempotent("trip"), func(context.Context) (*http.Response, error) { // want `Shapes.RoundTrip is not annotated idempotent, .*: use NonIdempotent; it opens a stream`
		return s.RoundTrip(nil)
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("read"), func(context.Context) error { return s.Read() })
	_ = resilient.Do(ctx, g, resilient.Idempotent("close"), func(context.Context) error { return s.Close() })
}
