package redisstore

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Client is the store's.
func Client(s *Store) redis.UniversalClient { return s.client }

// Reread sets how often all circuits are read.
func Reread(s *Store, d time.Duration) { s.rereading = d }

// Touch writes what a probe writes.
func Touch(s *Store, circuit string) error { return s.touch(context.Background(), circuit) }

// Unpack reads a message.
var Unpack = unpack

//go:embed doc.go
var doc string

// Rights are those that the package's documentation names.
func Rights(namespace string) string {
	for line := range strings.Lines(doc) {
		if rights, ok := strings.CutPrefix(line, "//	~<namespace>:*"); ok {
			return strings.ReplaceAll("~<namespace>:*"+rights, "<namespace>", namespace)
		}
	}
	return ""
}
