package chaos_test

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// nightly is set where there is time.
var nightly = os.Getenv("STOIC_NIGHTLY") != ""

// long is the first value where there is time, and the second elsewhere.
func long[T any](there, elsewhere T) T {
	if nightly {
		return there
	}
	return elsewhere
}

func TestMain(m *testing.M) {
	if replica.Main() {
		return
	}
	logging.Disable() // go-redis tells of each connection that is refused, and these tests refuse many
	slog.SetDefault(slog.New(slog.DiscardHandler))
	flag.Parse()
	if err := flag.Set("test.parallel", long("1", "4")); err != nil { // these tests wait more than they work
		panic(err)
	}
	code := m.Run()
	if left := servers.LeftOut(); len(left) > 0 {
		fmt.Printf("NOT RUN, for want of a redis-server (make redis installs one):\n  %s\n", strings.Join(left, "\n  "))
	}
	os.Exit(code)
}
