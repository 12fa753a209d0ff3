package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Shared is a [*Store], or nil where there is none: an interface, so that none is plainly
// nil wherever a breaker.Store is wanted.
type Shared interface {
	breaker.Store
	// Run is [Store.Run].
	Run(ctx context.Context) error
	// Close is [Store.Close].
	Close() error
}

// FromEnv makes a store of the URL in the environment variable <prefix>_CB_STORE, as
// [Open] reads it. Where the variable is empty or not set there is no store, and no
// error: each process has its circuits for itself.
//
//	store, err := redisstore.FromEnv("APP", nil)
//	if store != nil {
//		go store.Run(ctx)
//	}
//	registry, err := policies.FromEnv("APP", &policies.Options{Store: store})
//
// The error is for a prefix that is not [A-Z][A-Z0-9_]* or ends with _, and for what
// Open refuses. It shows no part of the URL that may be a secret.
func FromEnv(prefix string, options *Options) (Shared, error) {
	if !validPrefix(prefix) {
		return nil, errors.New("redisstore.FromEnv: a prefix of environment variables is upper-case letters, digits and _, " +
			"begins with a letter and does not end with _, such as \"CLEVERAGENTS\"")
	}
	variable := prefix + "_CB_STORE"
	url := strings.TrimSpace(os.Getenv(variable))
	if url == "" {
		return nil, nil
	}
	s, err := Open(url, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return s, nil
}

func validPrefix(prefix string) bool {
	return prefix != "" && prefix[0] >= 'A' && prefix[0] <= 'Z' && !strings.HasSuffix(prefix, "_") &&
		strings.Trim(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
