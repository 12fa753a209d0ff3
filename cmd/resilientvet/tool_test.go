package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/testmodule"
)

const root = "../.."

// build makes the tool.
func build(t *testing.T) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "resilientvet")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	output, code := run(t, ".", "go", "build", "-o", binary, ".")
	require.Zero(t, code, output)
	return binary
}

// run runs a command in a folder, outside of the workspace; it returns all that it said.
func run(t *testing.T, dir, name string, args ...string) (output string, code int) {
	t.Helper()
	var buffer bytes.Buffer
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = dir, append(os.Environ(), "GOWORK=off")
	command.Stdout, command.Stderr = &buffer, &buffer
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return buffer.String(), exit.ExitCode()
	}
	require.NoError(t, err)
	return buffer.String(), 0
}

// app makes a module that uses the library as it stands here, with the versions that the library uses.
func app(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/app")))
	require.NoError(t, testmodule.Write(dir, "example.com/app"))
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}
