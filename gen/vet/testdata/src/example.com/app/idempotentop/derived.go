package idempotentop

import (
	"context"

	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

type mine plans.Service

type local interface {
	//resilient:idempotent
	Find(ctx context.Context) error
	Store(ctx context.Context) error
	Keep(ctx context.Context) error
}

//resilient:service here
//resilient:idempotent Keep
type here local

//resilient:service twice
type twice here

// wide embeds a service of another package; so do those that embed wide, with or without directives.
type wide interface {
	plans.Service
	Extra(ctx context.Context) error
}

type wider wide

//resilient:service widest
//resilient:idempotent Draft
type widest interface {
	wide
	More(ctx context.Context) error
}

// split embeds two services that have the same method, which may be repeated by one of them.
type split interface {
	local2
	local3
}

//resilient:service local2
type local2 interface {
	Both(ctx context.Context) error
}

//resilient:service local3
type local3 interface {
	//resilient:idempotent
	Both(ctx context.Context) error
}

func derived(g *resilient.Guard, a mine, b here, c twice, d wide, e wider, f widest, h plans.Defined, i plans.Again, j plans.Other, k plans.Wide, l plans.OfOne, m plans.Alike) {
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), a.Apply)  // want `mine.Apply is not annotated idempotent`
	_ = resilient.WrapErr0(g, resilient.Idempotent("store"), b.Store) // want `here.Store is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("store"), c.Store) // want `twice.Store is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), d.Apply)  // want `Service.Apply is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), e.Apply)  // want `Service.Apply is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), f.Apply)  // want `widest.Apply is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("more"), f.More)   // want `widest.More is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("store"), h.Store) // want `Defined.Store is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("store"), i.Store) // want `Again.Store is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), j.Apply)  // want `Other.Apply is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), k.Apply)  // want `Service.Apply is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("put"), l.Put)      // want `OfOne.Put is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("write"), m.Write) // want `Alike.Write is not`
}

func constrained[S plans.Service, W wide](g *resilient.Guard, s S, w W) {
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), s.Apply) // want `Service.Apply is not`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), w.Apply) // want `Service.Apply is not`
	_ = resilient.WrapErr0(g, resilient.Idempotent("x"), w.Extra)
}

func derivedClean(g *resilient.Guard, a mine, b here, c twice, d wide, e wider, f widest, h plans.Defined, i plans.Again, j plans.Other, k plans.Wide, l plans.OfOne, m plans.Alike, n plans.Copies, o split) {
	_ = resilient.Wrap(g, resilient.Idempotent("get"), a.Get)
	_ = resilient.WrapErr0(g, resilient.Idempotent("ping"), a.Ping)
	_ = resilient.WrapErr0(g, resilient.Idempotent("find"), b.Find)
	_ = resilient.WrapErr0(g, resilient.Idempotent("keep"), b.Keep)
	_ = resilient.WrapErr0(g, resilient.Idempotent("find"), c.Find)
	_ = resilient.WrapErr0(g, resilient.Idempotent("keep"), c.Keep)
	_ = resilient.Wrap(g, resilient.Idempotent("get"), d.Get)
	_ = resilient.WrapErr0(g, resilient.Idempotent("extra"), d.Extra)
	_ = resilient.WrapErr0(g, resilient.Idempotent("ping"), e.Ping)
	_ = resilient.Wrap(g, resilient.Idempotent("draft"), f.Draft)
	_ = resilient.Wrap(g, resilient.Idempotent("get"), f.Get)
	_ = resilient.WrapErr0(g, resilient.Idempotent("check"), h.Check)
	_ = resilient.WrapErr0(g, resilient.Idempotent("list"), h.List)
	_ = resilient.WrapErr0(g, resilient.Idempotent("find"), i.Find)
	_ = resilient.Wrap(g, resilient.Idempotent("get"), j.Get)
	_ = resilient.Wrap(g, resilient.Idempotent("get"), k.Get)
	_ = resilient.Wrap(g, resilient.Idempotent("load"), l.Load)
	_ = resilient.WrapErr0(g, resilient.Idempotent("read"), m.Read)
	_ = resilient.WrapErr0(g, resilient.Idempotent("look"), n.Look)
	_ = resilient.WrapErr0(g, resilient.Idempotent("both"), o.Both)
	_ = resilient.WrapErr(g, resilient.NonIdempotent("apply"), d.Apply)
}

func transfers(ctx context.Context, g *resilient.Guard, t plans.Transfers) {
	_ = resilient.WrapErr(g, resilient.Idempotent("copy"), t.Copy)                                      // want `use NonIdempotent; it is given what can be given once`
	_ = resilient.WrapErr(g, resilient.Idempotent("upload"), t.Upload)                                  // want `use NonIdempotent, or annotate the method with //resilient:idempotent rewind`
	_ = resilient.Wrap0(g, resilient.Idempotent("open"), t.Open)                                        // want `use NonIdempotent; it opens a stream, which is never opened again`
	_, _ = resilient.Execute(ctx, g, resilient.Idempotent("send"), func(context.Context) (int, error) { // want `use NonIdempotent, or annotate the method with //resilient:idempotent rewind`
		return t.Send(nil)
	})
}

// What a package marks may be repeated in that package.
var _ = resilient.MarkIdempotent(plans.Shapes.Late)

func marked(ctx context.Context, g *resilient.Guard, s plans.Shapes) {
	_ = resilient.Do(ctx, g, resilient.Idempotent("late"), func(ctx context.Context) error { return s.Late("1", ctx) })
}

func values(g *resilient.Guard, s plans.Service) {
	apply := s.Apply
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), apply)                                                                  // want `Service.Apply is not annotated`
	_ = resilient.WrapErr(g, resilient.Idempotent("apply"), func(ctx context.Context, p plans.Plan) error { return apply(ctx, p) }) // want `Service.Apply is not annotated`
	_ = resilient.WrapErr(resilient.Passthrough(), resilient.Idempotent("apply"), s.Apply)
}
