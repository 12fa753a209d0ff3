package replica

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/history"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/mutant"
)

// Writing has a replica act as scribes do, each on its own goroutine.
type Writing struct {
	Address  string
	Circuits []string
	// Clients are the numbers of the scribes.
	Clients []int
	// Commands is how many each of them sends, with a pause between them of at most
	// Pause.
	Commands int
	Pause    time.Duration
	Seed     uint64
	// Retries is set if the client sends a command again whose answer it did not get.
	Retries bool
	// Mutant is a bug to plant.
	Mutant mutant.Name
}

func (w *Writing) do(ctx context.Context, say func(Response)) error {
	options := &redis.Options{Addr: w.Address, MaxRetries: -1, ContextTimeoutEnabled: true, DialerRetries: 1}
	if w.Retries {
		options.MaxRetries, options.MinRetryBackoff, options.MaxRetryBackoff = 3, soonest, 2*soonest
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	mutant.Plant(client, w.Mutant)
	var all sync.WaitGroup
	errs := make([]error, len(w.Clients))
	for i, number := range w.Clients {
		all.Go(func() { errs[i] = w.scribe(ctx, client, number, say) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// soonest is when a client that repeats what got lost does so at the earliest.
const soonest = 15 * time.Millisecond

func (w *Writing) scribe(ctx context.Context, client redis.UniversalClient, number int, say func(Response)) error {
	r := rand.New(rand.NewPCG(w.Seed, uint64(number)))
	refused := true // the store asks no more
	s := history.Scribe{
		Client: number, Circuits: w.Circuits, Rand: r, Clock: Clock,
		Unsent: func(err error) bool {
			refused = errors.Is(err, redisstore.ErrUnavailable)
			return refused
		},
		Write: func(n int, e history.Event) { say(Response{Event: &e, Number: n}) },
	}
	if w.Retries {
		s.Repeats = soonest
	}
	for range w.Commands {
		if refused { // what is to be seen is a store that goes on asking
			store, err := redisstore.New(client, nil)
			if err != nil {
				return err
			}
			s.Store, refused = mutant.Wrap(store, w.Mutant), false
		}
		s.Act(ctx)
		time.Sleep(time.Duration(r.Int64N(int64(w.Pause))))
	}
	return nil
}

// Clock is the same for all processes of a machine.
func Clock() time.Duration { return time.Duration(time.Now().UnixNano()) }
