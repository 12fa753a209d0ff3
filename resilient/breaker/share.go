package breaker

import (
	"math"
	"math/bits"
)

// share is a rate as a fraction of whole numbers, so that counts are held against
// exactly what the settings say and not against what a float64 makes of it: 0.57 is
// 57/100. The zero value is reached by nothing.
type share struct{ part, whole uint64 }

// exactness is how near to a rate its fraction is: nearer than any two shares of a
// million calls are to each other.
const exactness = 1e-13

// shareOf finds the simplest fraction that is the rate, by its continued fraction. A
// rate that no rule can have, as 0, is no share. It needs few steps: the error is always
// less than the square of the whole's inverse, so a whole of seven digits is near enough.
func shareOf(rate float64) share {
	if !(rate >= leastRate && rate <= 1) {
		return share{}
	}
	before, s := share{0, 1}, share{1, 0}
	for rest := rate; ; {
		digit := math.Floor(rest)
		before, s = s, share{uint64(digit)*s.part + before.part, uint64(digit)*s.whole + before.whole}
		if math.Abs(float64(s.part)/float64(s.whole)-rate) <= exactness {
			return s
		}
		rest = 1 / (rest - digit)
	}
}

// reached reports whether bad calls of all are at least that share.
func (s share) reached(bad, all uint64) bool {
	high, low := bits.Mul64(bad, s.whole)
	wantHigh, wantLow := bits.Mul64(all, s.part)
	return s.part > 0 && (high > wantHigh || high == wantHigh && low >= wantLow)
}

// least is the smallest number of all that reaches the share; 0 for the zero value.
func (s share) least(all uint64) uint64 {
	if s.part == 0 {
		return 0
	}
	high, low := bits.Mul64(all, s.part)
	low, carry := bits.Add64(low, s.whole-1, 0) // to round up
	least, _ := bits.Div64(high+carry, low, s.whole)
	return least
}
