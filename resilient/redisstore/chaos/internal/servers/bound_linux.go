package servers

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starter runs what is to be started on a thread that lasts as long as this process:
// the kernel ends a bound process when the thread that started it does.
var starter = sync.OnceValue(func() chan<- func() {
	requests := make(chan func())
	go func() {
		runtime.LockOSThread()
		for request := range requests {
			request()
		}
	}()
	return requests
})

// StartBound starts a process that does not outlive this one, however it ends.
func StartBound(process *exec.Cmd) error {
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	starter() <- func() { result <- process.Start() }
	return <-result
}
