package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/history"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/mutant"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestPlantedBugsAreFound: the check of the histories would find what it is there to
// find.
func TestPlantedBugsAreFound(t *testing.T) {
	t.Parallel()
	servers.Need(t)
	server := servers.Start(t)
	c := newCrew(t, 2, 4)
	alone := newCrew(t, 1, 1)
	for _, name := range mutant.All {
		t.Run(string(name), func(t *testing.T) {
			const enough = 60
			found := 0
			for round := 1; round <= enough && found == 0; round++ {
				if planted(c, server, name) {
					found = round
				}
			}
			if found == 0 {
				assert.Fail(t, "not found", "%s, in %d rounds", name, enough)
			}
			t.Logf("found in round %d", found)
		})
	}
	t.Run("two steps of one client alone", func(t *testing.T) {
		for range 5 {
			assert.False(t, planted(alone, server, mutant.Step), "nothing comes between them: the check is not to find anything")
		}
	})
}

// planted lets all write, with the bug in the store, and reports whether the check finds
// it.
func planted(c *crew, server *servers.Redis, name mutant.Name) bool {
	seed := rand.Uint64()
	w := replica.Writing{
		Address: server.Address, Circuits: []string{fmt.Sprintf("%s %d", name, seed)},
		Commands: 8, Pause: 4 * ms, Seed: seed, Mutant: name,
	}
	for _, f := range history.Check(c.write(w, func() {}), 10*time.Second) {
		if f.Verdict == history.Broken {
			return true
		}
	}
	return false
}
