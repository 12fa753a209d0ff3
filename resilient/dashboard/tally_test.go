package dashboard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// A bucket's duration is off by an eighth at most, from a microsecond or so to half an
// hour; buckets are in order.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(30*time.Minute)).Draw(t, "d"))
		if rapid.Bool().Draw(t, "short") {
			d = time.Duration(rapid.Int64Range(0, int64(time.Millisecond)).Draw(t, "d"))
		}
		got := dashboard.BucketMiddle(dashboard.BucketOf(d))
		if d < 4*1024 {
			assert.InDelta(t, d, got, 1024)
			return
		}
		assert.InEpsilon(t, d, got, 0.125)
	})
	for i := 1; i < dashboard.Buckets; i++ {
		assert.Greater(t, dashboard.BucketMiddle(i), dashboard.BucketMiddle(i-1))
		assert.Equal(t, i, dashboard.BucketOf(dashboard.BucketMiddle(i)))
	}
	assert.Equal(t, 0, dashboard.BucketOf(-time.Hour))
	assert.Equal(t, dashboard.Buckets-1, dashboard.BucketOf(1<<63-1))
}

// A tally counts within its stretch: it is 0 in every other one, whoever was first.
func TestTallyForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tally dashboard.Tally
		held, count := uint32(0), uint64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			at, n := rapid.Uint32Range(1, 5).Draw(t, "stretch"), rapid.Uint32Range(1, 9).Draw(t, "n")
			tally.Add(at, n)
			switch {
			case at == held:
				count += uint64(n)
			case at > held:
				held, count = at, uint64(n)
			}
			for other := uint32(1); other <= 5; other++ {
				want := uint64(0)
				if other == held {
					want = count
				}
				assert.Equal(t, want, tally.Of(other))
			}
		}
	})
}
