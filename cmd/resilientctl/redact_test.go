package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func call(in io.Reader, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(args, streams{in: in, out: &o, err: &e})
	return code, o.String(), e.String()
}

func TestRedact(t *testing.T) {
	const text = "a\npassword=F4KE x\n{\"token\":\"F4KE\"}\nb"
	const want = "a\npassword=*** x\n{\"token\":\"***\"}\nb"
	code, out, _ := call(iotest.OneByteReader(strings.NewReader(text)), "redact")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, want, out)

	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, out, errs := call(strings.NewReader("x\n"), "redact", "-stats", file, "-")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, want+"x\n", out)
	assert.Contains(t, errs, "5 lines, 2 changed")
}

func TestRedactCheck(t *testing.T) {
	code, out, _ := call(strings.NewReader("a\npassword=F4KE x\n"), "redact", "-check")
	assert.Equal(t, exitFound, code)
	assert.Equal(t, "-:2: password=*** x\n", out)

	code, out, _ = call(strings.NewReader("token expired\n"), "redact", "-check")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, out)
}

// What a line means depends on those around it: alone, the second one could as well be the text of an error.
func TestRedactCheckNamesTheLine(t *testing.T) {
	const fixture = "a: 1\nclient_secret: swordfish\n{\"token\": 1}\n"
	code, out, _ := call(strings.NewReader(fixture), "redact", "-check")
	assert.Equal(t, exitFound, code)
	assert.Equal(t, "-:2: client_secret: ***\n-:3: {\"token\": \"***\"}\n", out)

	key := "-----BEGIN PRIVATE" + " KEY-----\n" + strings.Repeat("F4KE+/F4KE\n", 3) + "-----END PRIVATE KEY-----"
	code, out, errs := call(strings.NewReader("x: 1\n"+key+"\ny password=F4KE\n\nz\n"+key), "redact", "-check", "-stats")
	assert.Equal(t, exitFound, code)
	assert.Equal(t, "-:2: *** (a secret of many lines)\n-:7: y password=***\n-:10: *** (a secret of many lines)\n", out)
	assert.Contains(t, errs, "14 lines, 3 changed")
}

// A private key is one secret, lines and all, wherever a block would end.
func TestRedactKeys(t *testing.T) {
	key := "-----BEGIN PRIVATE" + " KEY-----\n" + strings.Repeat("F4KE+/F4KE\n", 20) + "-----END PRIVATE KEY-----\n"
	text := strings.Repeat("clean line\n", 95_300) + key + strings.Repeat("clean\n", 10)
	code, out, _ := call(strings.NewReader(text), "redact")
	assert.Equal(t, exitOK, code)
	assert.NotContains(t, out, "F4KE")
	assert.Equal(t, 95_310, strings.Count(out, "clean"))
}

func TestRedactLongLines(t *testing.T) {
	in := io.LimitReader(repeated("x password=F4KE "), 40<<20)
	code, out, _ := call(in, "redact")
	assert.Equal(t, exitOK, code)
	assert.NotContains(t, out, "F4KE")
}

type repeated string

func (r repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r)
		n += c
	}
	return n - n%len(r), nil
}

func TestWrongUse(t *testing.T) {
	code, _, errs := call(strings.NewReader(""), "redakt")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, errs, `no command "redakt"`)
	code, out, _ := call(strings.NewReader(""), "help")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "redact")
	code, _, errs = call(strings.NewReader(""), "redact", "/no/such/file")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, errs, "no such file")
	code, _, _ = call(iotest.ErrReader(io.ErrUnexpectedEOF), "redact")
	assert.Equal(t, exitFailed, code)
}
