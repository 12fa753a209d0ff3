package main

import (
	"runtime"
	"slices"
	"time"
)

// measure has the contestants take turns, one short sample each, so that a machine that slows down for a while slows
// down all of them alike. Of the samples the median counts.
func measure(all []*contestant, rounds int, sample time.Duration) {
	for _, c := range all {
		c.loops = 1
		for c.sampled() < sample/2 {
			c.loops *= 2
		}
	}
	for range rounds {
		for _, c := range all {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			took := c.sampled()
			runtime.ReadMemStats(&after)
			n := float64(c.loops * len(c.lines))
			c.speeds = append(c.speeds, float64(c.loops*size(c.lines))/1e6/took.Seconds())
			c.counts = append(c.counts, float64(after.Mallocs-before.Mallocs)/n)
		}
	}
	for _, c := range all {
		c.speed, c.allocs = median(c.speeds), median(c.counts)
	}
}

func (c *contestant) sampled() time.Duration {
	began := time.Now()
	for range c.loops {
		for _, line := range c.lines {
			c.do(line)
		}
	}
	return time.Since(began)
}

func size(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line)
	}
	return n
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
