package main

import "time"

// progress is a line on the terminal, written over and over.
type progress struct{ last time.Time }

// show says how far the job is, twice a second, where a terminal looks on.
func (p *progress) show(j *job) {
	if !j.terminal || time.Since(j.began) < time.Second || time.Since(p.last) < time.Second/2 {
		return
	}
	p.last = time.Now()
	say(j.err, "\r%d MB, %d lines changed", j.bytes/1e6, j.changed)
}

// clear takes the line away.
func (p *progress) clear(s streams) {
	if !p.last.IsZero() {
		say(s.err, "\r\x1b[K")
	}
}
