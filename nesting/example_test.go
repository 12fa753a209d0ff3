package nesting_test

import (
	"context"
	"fmt"

	"github.com/seed42274fcc/stoic/nesting"
)

// inside stands for what runs within two guarded calls, the outer of which
// retries.
func inside() context.Context {
	return once(retrying(context.Background(), "plan_service", "get_plan"), "vector_store", "search")
}

func ExampleFrom() {
	scope := nesting.From(inside())
	fmt.Println(scope.Service(), scope.Operation(), scope.Retrying())
	fmt.Println(nesting.From(context.Background()))
	// Output:
	// vector_store search false
	// <nil>
}

func ExampleUnderRetry() {
	fmt.Println(nesting.UnderRetry(inside()))
	fmt.Println(nesting.UnderRetry(context.Background()))
	// Output:
	// true
	// false
}

func ExampleDepth() {
	fmt.Println(nesting.Depth(inside()))
	// Output: 2
}

func ExamplePath() {
	fmt.Println(nesting.Path(inside()))
	// Output: [plan_service.get_plan vector_store.search]
}

// A job that nobody above repeats is taken out of the calls it was started in.
func ExampleDetach() {
	ctx := nesting.Detach(inside())
	fmt.Println(nesting.Depth(ctx), nesting.UnderRetry(ctx))
	// Output: 0 false
}

// What a client writes, a server restores: then a call in there makes one attempt.
func ExampleCapture() {
	header := nesting.Capture(inside()).String()
	fmt.Println(header)

	wire, err := nesting.ParseWire(header)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, leave := wire.Enter(context.Background())
	fmt.Println(nesting.UnderRetry(ctx), nesting.Path(ctx))
	leave()
	fmt.Println(nesting.UnderRetry(ctx))
	// Output:
	// depth=2;path=plan_service.get_plan/vector_store.search
	// true [plan_service.get_plan vector_store.search]
	// false
}
