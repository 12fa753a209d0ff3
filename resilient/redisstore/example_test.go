package redisstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// An application opens one store, runs it, and hands it to those who make circuits.
func ExampleOpen() {
	store, err := redisstore.Open("redis://localhost:6379/0", &redisstore.Options{
		Namespace: "shop",
		Timeout:   20 * time.Millisecond,
		OnEvent:   func(e redisstore.Event) { fmt.Println("tell the operator:", e.Kind, e.Circuit) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- store.Run(ctx) }()

	// … policies.FromEnv("SHOP", &policies.Options{Store: store}) …

	stop()
	fmt.Println(<-ended, store.Close())
	// Output: <nil> <nil>
}

// A client that is there already must honour deadlines.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer func() { _ = client.Close() }()
	_, err := redisstore.New(client, nil)
	fmt.Println(err)
	// Output:
	// redisstore.New: the client ignores deadlines, so that a Redis that hangs would hold up each call: set ContextTimeoutEnabled in its options, or use redisstore.Open
}

// Where the environment names no store, there is none.
func ExampleFromEnv() {
	store, err := redisstore.FromEnv("SHOP", nil) // reads SHOP_CB_STORE
	fmt.Println(store == nil, err)
	// Output: true <nil>
}

// A tool lists the circuits, and finds nothing where there is no Redis.
func ExampleStore_List() {
	store, err := redisstore.Open("redis://localhost:1", &redisstore.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	names, err := store.List(context.Background())
	fmt.Println(names, err != nil, store.Close())
	// Output: [] true <nil>
}
