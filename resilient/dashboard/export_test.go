package dashboard

import (
	"bytes"
	"unsafe"
)

// What the tests look at from beside.

// SizeOfCounts is what a meter keeps of one guard, but for its transitions.
const SizeOfCounts = unsafe.Sizeof(counts{})

// Buckets is how many there are.
const Buckets = buckets

// BucketOf and BucketMiddle are the two ways.
var (
	BucketOf     = bucketOf
	BucketMiddle = bucketMiddle
)

// Tally is a tally.
type Tally struct{ tally }

// Add is add.
func (t *Tally) Add(at, n uint32) { t.add(at, n) }

// Of is of.
func (t *Tally) Of(at uint32) uint64 { return t.of(at) }

// Metered is how many guards are counted for.
func (m *Meter) Metered() int { return len(*m.guards.Load()) }

// Locked runs a function while the meter's lock is held.
func (m *Meter) Locked(run func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run()
}

// Clients is how many pages are live.
func (d *Dashboard) Clients() int64 { return d.clients.Load() }

// Frames returns a function that makes the next frame of a page, and tells how long it is.
// Each looks as if a second had passed.
func (d *Dashboard) Frames() func() int {
	v := view{board: d}
	var out bytes.Buffer
	return func() int {
		out.Reset()
		f, full := v.next()
		_ = f.write(&out, full, v.second)
		v.second--
		v.rates = make([]string, len(v.rates))
		return out.Len()
	}
}
