//go:build !linux

package servers

import "os/exec"

// StartBound starts a process. Here it outlives this one, should that be killed.
func StartBound(process *exec.Cmd) error { return process.Start() }
