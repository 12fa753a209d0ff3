package otelguard

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// labels are the attributes of one series, made once: as options they cost no allocation.
type labels struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func labelled(attributes ...attribute.KeyValue) labels {
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	return labels{add: []metric.AddOption{option}, record: []metric.RecordOption{option}}
}

// result is what a caller got.
type result int

const (
	success result = iota
	failed
	rejected
	results
)

var resultNames = [results]string{"success", "error", "rejected"}

func resultOf(err error) result {
	if err == nil {
		return success
	}
	return failed
}

// series are all those of one operation.
type series struct {
	plain    labels
	result   [results]labels
	outcome  [breaker.Neutral + 1]labels
	rejected [breaker.ForcedOpen + 1]labels // by the state that refuses
}

func newSeries(service, operation string) *series {
	with := func(more ...attribute.KeyValue) labels {
		return labelled(append(more, attribute.String("service", service), attribute.String("operation", operation))...)
	}
	s := &series{plain: with()}
	for r := range s.result {
		s.result[r] = with(attribute.String("result", resultNames[r]))
	}
	for o := range s.outcome {
		s.outcome[o] = with(attribute.String("outcome", breaker.Outcome(o).String()))
	}
	s.outcome[breaker.Unjudged] = s.outcome[breaker.Failure] // as circuits take it
	for state := range s.rejected {
		s.rejected[state] = with(attribute.String("state", breaker.State(state).String()))
	}
	return s
}

// shelf keeps a bounded number of things by name, as they come. Who finds one takes no
// lock and allocates nothing. Names that find no room share the thing of Other.
type shelf[T any] struct {
	most  int
	make  func(name string) *T
	known atomic.Pointer[map[string]*T] // replaced when one is added
	mu    sync.Mutex
}

func newShelf[T any](most int, build func(name string) *T) *shelf[T] {
	s := &shelf[T]{most: most, make: build}
	s.known.Store(&map[string]*T{})
	return s
}

func (s *shelf[T]) of(name string) *T {
	known := *s.known.Load()
	if thing := known[name]; thing != nil {
		return thing
	}
	if len(known) >= s.most {
		if thing := known[Other]; thing != nil {
			return thing
		}
	}
	return s.enter(name)
}

func (s *shelf[T]) enter(name string) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := *s.known.Load()
	if _, taken := known[name]; !taken && len(known) >= s.most {
		name = Other
	}
	if thing := known[name]; thing != nil {
		return thing
	}
	next := maps.Clone(known)
	name = strings.Clone(name) // it may be a slice of something large
	next[name] = s.make(name)
	s.known.Store(&next)
	return next[name]
}

// catalog has the series of all operations, by service.
type catalog struct{ services *shelf[shelf[series]] }

func newCatalog(operations int) *catalog {
	return &catalog{newShelf(MaxServices, func(service string) *shelf[series] {
		return newShelf(operations, func(operation string) *series { return newSeries(service, operation) })
	})}
}

func (c *catalog) of(service, operation string) *series { return c.services.of(service).of(operation) }
