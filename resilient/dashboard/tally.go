package dashboard

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// tally counts within one stretch of time, and forgets by itself: number of the stretch
// and count are one word, so that neither is ever seen with the other's past. Stretches
// have numbers from 1.
type tally struct{ word atomic.Uint64 }

// add counts n in a stretch. What comes after the place was given to a later one is lost.
func (t *tally) add(stretch, n uint32) {
	for {
		old := t.word.Load()
		next := uint64(stretch)<<32 | uint64(n)
		switch held := uint32(old >> 32); {
		case held == stretch:
			next += old & (1<<32 - 1)
		case held > stretch:
			return
		}
		if t.word.CompareAndSwap(old, next) {
			return
		}
	}
}

// of is the count of a stretch; 0 if the place is another's.
func (t *tally) of(stretch uint32) uint64 {
	if word := t.word.Load(); uint32(word>>32) == stretch {
		return word & (1<<32 - 1)
	}
	return 0
}

// The latencies' buckets: four to each doubling, from a microsecond or so. The last one
// has what is longer than half an hour.
const (
	finest  = 10 // bits of a nanosecond count that do not matter
	buckets = 4 * 30
)

// bucketOf is the place of a duration.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0)) >> finest
	if v < 4 {
		return int(v)
	}
	shift := bits.Len64(v) - 3
	return min(4*(shift+1)+int(v>>shift&3), buckets-1)
}

// bucketMiddle is what a bucket stands for: off by an eighth of it at most.
func bucketMiddle(i int) time.Duration {
	if i < 4 {
		return time.Duration(i<<finest + 1<<(finest-1))
	}
	shift := i/4 - 1
	return time.Duration((4+i%4)<<shift<<finest + 1<<(shift+finest-1))
}

// percentiles are the durations that 50, 90 and 99 in a hundred do not exceed; 0 of none.
func percentiles(counts *[buckets]uint64) (p [3]time.Duration) {
	var all uint64
	for _, n := range counts {
		all += n
	}
	if all == 0 {
		return p
	}
	for i, percent := range []uint64{50, 90, 99} {
		rank := (all*percent + 99) / 100 // at least 1
		var below uint64
		for at, n := range counts {
			if below += n; below >= rank {
				p[i] = bucketMiddle(at)
				break
			}
		}
	}
	return p
}
