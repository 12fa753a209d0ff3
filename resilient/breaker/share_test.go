package breaker_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// TestShareAtTheThreshold is P62: neither cut off nor rounded.
func TestShareAtTheThreshold(t *testing.T) {
	for _, tt := range []struct {
		rate     float64
		bad, all uint64
		want     bool
	}{
		{0.57, 57, 100, true}, // 0.57*100 is 56.99999999999999
		{0.57, 56, 100, false},
		{0.07, 7, 100, true}, // 0.07*100 is 7.000000000000001
		{0.50, 99, 200, false},
		{0.50, 100, 200, true},
		{0.1 + 0.2, 3, 10, true}, // 0.30000000000000004
		{2.0 / 3, 2, 3, true},
		{5.0 / 6, 5, 6, true}, // written out it is more than five sixths
		{1, 20, 20, true},
		{1, 19, 20, false},
		{0.5000000000002, 1 << 61, 1 << 62, false}, // a fraction of large numbers, and no overflow
		{0.5000000000002, 1<<61 + 1<<32, 1 << 62, true},
		{1, 999_999_999, 1_000_000_000, false},
		{0.000001, 1, 1_000_000, true},
		{0.000001, 1, 1_000_001, false},
		{0.333333, 333_333, 1_000_000, true},
		{0.333333, 1, 4, false},
		{0.5, 0, 10, false},
		{0, 10, 10, false}, // no rule
		{math.NaN(), 10, 10, false},
		{-1, 10, 10, false},
		{math.Inf(1), 10, 10, false},
		{1e-300, 10, 10, false},
	} {
		assert.Equal(t, tt.want, breaker.Reached(tt.rate, tt.bad, tt.all), "%d of %d at %v", tt.bad, tt.all, tt.rate)
	}
}

// Each fraction of up to 400 calls is found as itself, whether it was written as a
// quotient or with its digits, and one call fewer does not reach it.
func TestShareOfEachFraction(t *testing.T) {
	for whole := uint64(1); whole <= 400; whole++ {
		for part := uint64(1); part <= whole; part++ {
			rate := float64(part) / float64(whole)
			p, w := breaker.ShareOf(rate)
			if p*whole != part*w {
				t.Fatalf("%d of %d is taken for %d of %d", part, whole, p, w)
			}
			if !breaker.Reached(rate, part, whole) || breaker.Reached(rate, part-1, whole) {
				t.Fatalf("%d of %d at %v", part, whole, rate)
			}
		}
	}
}

// What no rule can have is no share, and nothing reaches it.
func TestNoShare(t *testing.T) {
	for _, rate := range []float64{math.NaN(), math.Inf(-1), -0.5, 0, 0.000_000_9, 1.000_001, 1.5, 2, math.Inf(1)} {
		p, w := breaker.ShareOf(rate)
		require.Zero(t, p, "%v", rate)
		require.Zero(t, w, "%v", rate)
		require.False(t, breaker.Reached(rate, 1, 1), "%v", rate)
	}
}

// Whatever the rate, its fraction is so near that no share of a million calls lies
// between the two.
func TestShareOfAnyRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.000001, 1).Draw(t, "rate")
		p, w := breaker.ShareOf(rate)
		gap := new(big.Rat).Sub(new(big.Rat).SetFrac64(int64(p), int64(w)), new(big.Rat).SetFloat64(rate))
		require.Negative(t, gap.Abs(gap).Cmp(big.NewRat(1, 5_000_000_000_000)), "%d of %d for %v", p, w, rate)

		all := rapid.Uint64Range(1, 1_000_000).Draw(t, "calls")
		bad := rapid.Uint64Range(0, all).Draw(t, "bad")
		exact := new(big.Rat).SetFrac64(int64(bad), int64(all))
		distance := new(big.Rat).Sub(exact, new(big.Rat).SetFloat64(rate))
		want := distance.Sign() >= 0
		if distance.Abs(distance).Cmp(big.NewRat(1, 5_000_000_000_000)) < 0 {
			want = true // the same number, as far as a float64 can say it
		}
		require.Equal(t, want, breaker.Reached(rate, bad, all))
	})
}
