// Package marker is a secret that is put into every input of the toolkit, and looked for in everything that it says.
// [Rooms] lists for each package that says something what can go in and where it comes out; the test named there goes
// through exactly these.
package marker

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Secret is one by its place, not by its form, and survives every encoding but a hash.
const Secret = "F4KEmarker1"

const (
	// URL has it as a password and as a parameter.
	URL = "jdbc:postgresql://app:" + Secret + "@db.internal:5432/x?password=" + Secret
	// Pair has it after a key.
	Pair = "password=" + Secret
	// Text has it in several forms.
	Text = "dial " + URL + `: refused {"api_key": "` + Secret + `"} Authorization: Bearer ` + Secret
	// Mask stands where it was: what was seeded came that far.
	Mask = "***"
)

// Room is a package that says something.
type Room struct {
	// Folder is the package's, Test its test, which calls [New] with the folder.
	Folder, Test string
	// Inputs are what comes from outside and may hold secrets. It is seen in some sink, masked.
	Inputs []string
	// Unseen are inputs of which nothing is said at all.
	Unseen []string
	// Sinks are all ways out.
	Sinks []string
}

// Sinks collects what one package says.
type Sinks struct {
	t       testing.TB
	room    Room
	mu      sync.Mutex
	seeded  map[string]bool // by input: whether a mask was seen
	reached map[string]bool // by sink: whether something came out
}

// New begins the test of a room. At its end every input of the table must have been seeded, and every sink reached.
func New(t testing.TB, folder string) *Sinks {
	s := &Sinks{t: t, seeded: map[string]bool{}, reached: map[string]bool{}}
	for _, room := range Rooms {
		if room.Folder == folder {
			s.room = room
		}
	}
	if s.room.Folder == "" || s.room.Test != t.Name() {
		t.Fatalf("marker: %s of %q is not in the table", t.Name(), folder)
	}
	for _, input := range append(s.room.Inputs[:len(s.room.Inputs):len(s.room.Inputs)], s.room.Unseen...) {
		s.seeded[input] = false
	}
	for _, sink := range s.room.Sinks {
		s.reached[sink] = false
	}
	t.Cleanup(s.complete)
	return s
}

func (s *Sinks) complete() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.t.Failed() || s.t.Skipped() {
		return
	}
	for _, input := range s.room.Inputs {
		if !s.seeded[input] {
			s.t.Errorf("marker: %s: nothing came of the input %q", s.room.Folder, input)
		}
	}
	for _, input := range s.room.Unseen {
		if s.seeded[input] {
			s.t.Errorf("marker: %s: the input %q is seen", s.room.Folder, input)
		}
	}
	for _, sink := range s.room.Sinks {
		if !s.reached[sink] {
			s.t.Errorf("marker: %s: nothing came out of the sink %q", s.room.Folder, sink)
		}
	}
}

// Seed is what comes of one input, in the test t. It is safe for concurrent use.
type Seed struct {
	t     testing.TB
	sinks *Sinks
	input string
}

// Seed begins with an input, which must be one of the table.
func (s *Sinks) Seed(t testing.TB, input string) *Seed {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.seeded[input]; !known {
		t.Fatalf("marker: the input %q of %s is not in the table", input, s.room.Folder)
	}
	return &Seed{t: t, sinks: s, input: input}
}

// Put looks at what came out of a sink of the table: in every way in which fmt writes it, and as JSON. Nil and "" are
// nothing.
func (s *Seed) Put(sink string, values ...any) {
	s.t.Helper()
	for _, value := range values {
		if value == nil || value == "" {
			continue
		}
		s.look(sink, forms(value))
	}
}

// forms are the ways in which somebody might write a value.
func forms(value any) []string {
	if text, ok := value.(string); ok {
		return []string{text}
	}
	written := []string{fmt.Sprint(value)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		written = append(written, fmt.Sprintf(verb, value))
	}
	if encoded, err := json.Marshal(value); err == nil {
		written = append(written, string(encoded))
	}
	return written
}

func (s *Seed) look(sink string, texts []string) {
	s.t.Helper()
	s.sinks.mu.Lock()
	defer s.sinks.mu.Unlock()
	if _, known := s.sinks.reached[sink]; !known {
		s.t.Fatalf("marker: the sink %q of %s is not in the table", sink, s.sinks.room.Folder)
	}
	s.sinks.reached[sink] = true
	for _, text := range texts {
		if at := strings.Index(text, Secret); at >= 0 {
			s.t.Errorf("marker: %s: from %q through %q: %s", s.sinks.room.Folder, s.input, sink, text[max(0, at-200):min(len(text), at+100)])
			return
		}
		if strings.Contains(text, Mask) {
			s.sinks.seeded[s.input] = true
		}
	}
}
