// Package replica runs parts of a test in processes of their own: the test's binary,
// started once more. What they are to do and what came of it goes through their standard
// input and output, one JSON value on each line.
package replica

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/history"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// variable is set in the environment of a process that is a replica.
const variable = "STOIC_CHAOS_REPLICA"

// Request is what a replica is to do. One of its fields is set.
type Request struct {
	// Write has it act as scribes do.
	Write *Writing `json:",omitempty"`
	// Open gives it a circuit that it shares.
	Open *Opening `json:",omitempty"`
	// Work has it call through the circuit.
	Work *Working `json:",omitempty"`
	// Rush has it ask for probes.
	Rush *Rushing `json:",omitempty"`
	// Guard gives it a guard of tools that it shares.
	Guard *Guarding `json:",omitempty"`
	// Turn has its agents make turns; with none of them, it tells what it knows.
	Turn *Turning `json:",omitempty"`
	// Use ends the turn that was offered the tool.
	Use *Using `json:",omitempty"`
}

// Response is what came of a request, or a part of it.
type Response struct {
	// Event is one that a scribe has written down under that number.
	Event  *history.Event `json:",omitempty"`
	Number int            `json:",omitempty"`
	// Report is what came of the request.
	Report Report
	// Done says that it was the last one.
	Done bool `json:",omitempty"`
	// Error is why it could not be done.
	Error string `json:",omitempty"`
}

// Report is what came of what is not written down.
type Report struct {
	Work  Worked
	Rush  Rushed
	Tools Toolbox
}

// Main is what a replica does instead of testing. It returns false in a process that is
// none.
func Main() bool {
	if os.Getenv(variable) == "" {
		return false
	}
	serve(os.Stdin, os.Stdout)
	return true
}

// Replica is such a process, as the test sees it.
type Replica struct {
	t       testing.TB
	process *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Scanner
	once    sync.Once
}

// Start starts one that ends with the test.
func Start(t testing.TB) *Replica {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(self)
	process.Env = append(os.Environ(), variable+"=1")
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := servers.StartBound(process); err != nil {
		t.Fatal(err)
	}
	r := &Replica{t: t, process: process, input: input, output: bufio.NewScanner(output)}
	r.output.Buffer(nil, 1<<20)
	t.Cleanup(func() { r.Kill(); r.Reap() })
	return r
}

// Ask sends a request.
func (r *Replica) Ask(q Request) {
	r.t.Helper()
	line, err := json.Marshal(q)
	if err == nil {
		_, err = r.input.Write(append(line, '\n'))
	}
	if err != nil {
		r.t.Errorf("a replica takes no request: %v", err)
	}
}

// Next is its next response; false if it has ended.
func (r *Replica) Next() (Response, bool) {
	if !r.output.Scan() {
		return Response{}, false
	}
	var response Response
	if err := json.Unmarshal(r.output.Bytes(), &response); err != nil {
		return Response{}, false // it was killed in the middle of a line
	}
	return response, true
}

// Report waits until a request is done, and returns what came of it. The test fails if it
// could not be done.
func (r *Replica) Report() Report {
	r.t.Helper()
	for {
		response, ok := r.Next()
		if !ok {
			r.t.Fatal("a replica has ended")
		}
		if response.Error != "" {
			r.t.Fatal("a replica: " + response.Error)
		}
		if response.Done {
			return response.Report
		}
	}
}

// Pause stops it in the middle of whatever it does.
func (r *Replica) Pause() { _ = r.process.Process.Signal(syscall.SIGSTOP) }

// Resume lets it go on.
func (r *Replica) Resume() { _ = r.process.Process.Signal(syscall.SIGCONT) }

// Kill ends it at once. What it has said before can still be read.
func (r *Replica) Kill() { _ = r.process.Process.Kill() }

// Reap frees what is left of one that was killed and read to its end.
func (r *Replica) Reap() { r.once.Do(func() { _ = r.process.Wait() }) }
