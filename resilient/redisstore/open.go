package redisstore

import (
	"github.com/redis/go-redis/v9"
)

// Open is TODO.
func Open(url string, options *Options) (*Store, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	s, err := New(redis.NewClient(o), options)
	if err == nil {
		s.owned = true
	}
	return s, err
}
