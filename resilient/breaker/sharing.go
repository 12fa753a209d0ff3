package breaker

import "time"

// SharingChange is one change of how a circuit stands with those of other processes: its
// store is lost, say, or back. It is a value.
type SharingChange struct {
	// Circuit is the circuit's name.
	Circuit string
	// From and To differ. The store is lost if To is Lost, and back if From is and To is
	// Shared or Apart.
	From, To Sharing
	// At is when it was noticed: by a call, an order or the store's news. A circuit that
	// nobody uses asks nothing.
	At time.Time
	// Cause is why the store could not be asked, unsanitised; nil unless To is Lost.
	Cause error
}

// noteSharing notes for delivery that the circuit stands otherwise than was told last.
// What changes and changes back within one step is none. The mutex is held.
func (c *Circuit) noteSharing(now time.Duration) {
	f := c.fleet
	if f == nil || f.mode == f.told {
		return
	}
	change := SharingChange{Circuit: c.name, From: f.told, To: f.mode, At: c.Time(now)}
	if f.told = f.mode; f.mode == Lost {
		change.Cause = f.fault
	}
	if c.options.OnSharing != nil {
		c.history().news.add(notice{sharing: &change})
	}
}
