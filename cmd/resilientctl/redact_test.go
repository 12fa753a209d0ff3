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

// A private key is one secret, lines and all, wherever a block would end, and so is a
// block of YAML.
func TestRedactLinesThatBelongTogether(t *testing.T) {
	const lines = 95_000
	key := func(begin, end, line string) string {
		return begin + line + strings.Repeat("F4KE+/F4KE"+line, 40) + end + line
	}
	for _, secret := range []string{
		key("-----BEGIN PRIVATE"+" KEY-----", "-----END PRIVATE KEY-----", "\n"),
		key("-----BEGIN PRIVATE"+" KEY-----", "-----END PRIVATE KEY-----", "\r\n"),
		key("-----BEGIN PGP PRIVATE KEY"+" BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----", "\n"),
		key("-----begin rsa private"+" key-----", "-----end rsa private key-----", "\n"),
		key("---- BEGIN SSH2 ENCRYPTED PRIVATE"+" KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----", "\n"),
		"password: |\n" + strings.Repeat("  F4KE1\n", 40) + "x: y\n",
		"api_keys:\n" + strings.Repeat("- F4KE1\n", 40) + "x: y\n",
	} {
		for begin := 1; begin <= 5; begin += 2 { // where the block ends in it
			clean := strings.Repeat("clean line\n", lines)
			clean = strings.Repeat("x", blockSize-len(clean)-1-begin*len(secret)/6) + "\n" + clean
			code, out, _ := call(strings.NewReader(clean+secret+strings.Repeat("clean\n", 10)), "redact")
			assert.Equal(t, exitOK, code)
			assert.NotContains(t, out, "F4KE", "%q", secret[:20])
			assert.Equal(t, lines+10, strings.Count(out, "clean"))
		}
	}
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
