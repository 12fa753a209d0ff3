package redisstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/sanitize"
)

// scanned is how many keys Redis looks at for one page.
const scanned = 1000

// List returns, in order, the names of all circuits that Redis knows of in the store's
// namespace, as they are: they may hold any characters. One that is closed and healthy
// and always was leaves no trace. It goes over all keys of the database, in a cluster
// of each master, page by page, with Options.Timeout for each, so it is for tools and not
// for calls. The circuits that come or go meanwhile may be in it or not.
func (s *Store) List(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	names := map[string]bool{}
	scan := func(ctx context.Context, client *redis.Client) error {
		return s.scan(ctx, client, func(name string) {
			mu.Lock()
			defer mu.Unlock()
			names[name] = true
		})
	}
	var err error
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, scan)
	case *redis.Client:
		err = scan(ctx, c)
	default: // New lets none in
		err = fmt.Errorf("a %T cannot be asked", s.client)
	}
	if err != nil {
		return nil, fmt.Errorf("redisstore: list: %w", sanitize.Error(err))
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// scan goes over the keys of one server.
func (s *Store) scan(ctx context.Context, client *redis.Client, found func(name string)) error {
	var cursor uint64
	for {
		keys, next, err := s.page(ctx, client, cursor)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if name, ok := s.name(key); ok {
				found(name)
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

func (s *Store) page(ctx context.Context, client *redis.Client, cursor uint64) ([]string, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	return client.Scan(ctx, cursor, s.options.Namespace+":*}", scanned).Result()
}

// name is the inverse of key. It is false for what is no circuit, such as what probes
// write.
func (s *Store) name(key string) (string, bool) {
	rest, ours := strings.CutPrefix(key, s.options.Namespace+":")
	rest, whole := strings.CutSuffix(rest, "}")
	if !ours || !whole {
		return "", false
	}
	if name, ok := strings.CutPrefix(rest, ":{-"); ok {
		return name, true
	}
	name, ok := strings.CutPrefix(rest, "{")
	return name, ok
}

// Knows reports whether Redis knows of the circuit of exactly that name. It changes
// nothing.
func (s *Store) Knows(ctx context.Context, circuit string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	n, err := s.client.Exists(ctx, s.key(circuit)).Result()
	if err != nil {
		return false, fmt.Errorf("redisstore: look-up of circuit %s: %w", sanitize.Message(circuit), sanitize.Error(err))
	}
	return n > 0, nil
}
