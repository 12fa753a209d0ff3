package redisstore

import (
	"embed"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

//go:embed lua
var sources embed.FS

// scripts has one for each kind of command: what they have in common, and below it the
// kind's own.
type scripts map[breaker.Kind]*redis.Script

func loadScripts() (scripts, error) {
	head, err := sources.ReadFile("lua/state.lua")
	if err != nil {
		return nil, err
	}
	all := scripts{}
	for kind := breaker.Read; kind <= breaker.Rebuild; kind++ {
		own, err := sources.ReadFile("lua/" + kind.String() + ".lua")
		if err != nil {
			return nil, err
		}
		all[kind] = redis.NewScript(string(head) + "\n" + string(own))
	}
	return all, nil
}
