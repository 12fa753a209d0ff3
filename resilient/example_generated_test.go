package resilient_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed42274fcc/stoic/resilient"
)

// keys is an interface of somebody else's: its methods cannot be annotated.
type keys interface {
	Get(ctx context.Context, key string) (string, error)
	List(ctx context.Context) ([]string, error)
	Put(ctx context.Context, key, value string) error
}

// It is said among the variables of the package with the interface that embeds it, where resilientgen reads it. Mostly
// the variable is called _.
var marked = resilient.MarkIdempotent(keys.Get, keys.List)

// MarkIdempotent does nothing when the program runs; what it names is checked when it is compiled.
func ExampleMarkIdempotent() {
	fmt.Println(marked)
	// Output:
	// {}
}

// resilientKeys is a wrapper as resilientgen writes it, in short: it refers to GeneratedV1, so that a wrapper and a library
// which do not fit together fail to compile.
type resilientKeys struct {
	next  keys
	guard *resilient.Guard
}

const _ = resilient.GeneratedV1

var keysOps = struct{ Get resilient.Op }{Get: resilient.Idempotent("get")}

func (s *resilientKeys) Get(ctx context.Context, key string) (string, error) {
	return resilient.Execute(ctx, s.guard, keysOps.Get, func(ctx context.Context) (string, error) {
		return s.next.Get(ctx, key)
	})
}

// empty is a store with nothing in it that is busy at first.
type empty struct {
	keys
	calls int
}

func (e *empty) Get(context.Context, string) (string, error) {
	if e.calls++; e.calls == 1 {
		return "", errBusy
	}
	return "nothing", nil
}

// A generated wrapper calls the guard, and no more.
func Example_generated() {
	s := &resilientKeys{next: &empty{}, guard: mustGuard(resilient.NewGuard("store", quick(), quietly))}
	fmt.Println(s.Get(context.Background(), "key"))
	// Output:
	// nothing <nil>
}

// shelf keeps guards by name, as a registry of package policies does.
type shelf map[string]*resilient.Guard

func (s shelf) Guard(name string) *resilient.Guard { return s[name] }

// Whatever finds a guard by its name can be given to a generated constructor.
func ExampleGuards() {
	var guards resilient.Guards = shelf{"store": mustGuard(resilient.NewGuard("store", quick(), quietly))}
	fmt.Println(guards.Guard("store").Name())
	// Output:
	// store
}

// Where a method takes a request, its context is the call's.
func ExampleContextOf() {
	request, err := http.NewRequestWithContext(context.WithValue(context.Background(), http.ServerContextKey, "server"), "GET", "http://localhost", nil)
	fmt.Println(resilient.ContextOf(request).Value(http.ServerContextKey), err)

	request = nil // which is for the service to complain about
	fmt.Println(resilient.ContextOf(request))
	// Output:
	// server <nil>
	// context.Background
}

func ExampleWithContext() {
	request, err := http.NewRequest("GET", "http://localhost", nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(resilient.WithContext(ctx, request).Context().Err(), err)

	request = nil
	fmt.Println(resilient.WithContext(ctx, request))
	// Output:
	// context canceled <nil>
	// <nil>
}
