package redisstore_test

import (
	"context"
	"log"
	"time"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// What the README shows is compiled here.
func shareCircuits(ctx context.Context) error {
	// region shared
	store, err := redisstore.FromEnv("SHOP", nil) // SHOP_CB_STORE=redis://redis.internal:6379/0
	if err != nil {
		return err
	}
	options := &policies.Options{}
	if store != nil { // nil where the variable is not set: each process has its circuits for itself
		go func() { log.Println(store.Run(ctx)) }() // news as they happen
		options.Store = store
	}
	services, err := policies.FromEnv("SHOP", options)
	// endregion
	if err != nil {
		return err
	}
	return maintain(ctx, services.Guard("stock_service"))
}

func maintain(ctx context.Context, stock *resilient.Guard) error {
	// region order
	err := stock.Circuit().Steer(ctx, breaker.Order{
		Force: breaker.ForceOpen, For: 2 * time.Hour, Author: "ann", Reason: "the warehouse moves house",
	})
	// endregion
	return err
}

var _ = shareCircuits
