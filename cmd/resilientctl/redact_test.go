package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
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

// A private key is one secret, lines and all, wherever a block would end, and however its
// lines end.
func TestRedactKeys(t *testing.T) {
	for name, form := range map[string]struct{ head, tail, newline string }{
		"PKCS 8":  {"-----BEGIN PRIVATE" + " KEY-----", "-----END PRIVATE KEY-----", "\n"},
		"Windows": {"-----BEGIN PRIVATE" + " KEY-----", "-----END PRIVATE KEY-----", "\r\n"},
		"PGP":     {"-----BEGIN PGP PRIVATE" + " KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----", "\n"},
		"SSH 2":   {"---- BEGIN SSH2 ENCRYPTED PRIVATE" + " KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----", "\n"},
		"OpenVPN": {"-----begin private" + " key-----", "-----end private key-----", "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			line := "clean line" + form.newline
			key := form.head + form.newline + strings.Repeat("F4KE+/F4KE"+form.newline, 20) + form.tail + form.newline
			for into := 0; into < around+len(key); into += 200 { // where in the key the first block ends, or is full
				before := (blockSize - into) / len(line)
				text := strings.Repeat(line, before) + key + strings.Repeat(line, 10)
				code, out, _ := call(strings.NewReader(text), "redact")
				assert.Equal(t, exitOK, code)
				assert.NotContains(t, out, "F4KE")
				assert.NotContains(t, out, "KEY")
				assert.Equal(t, before+10, strings.Count(out, line))
			}
		})
	}
}

// So is a value on another line than its name.
func TestRedactLinesThatBelongTogether(t *testing.T) {
	for _, secret := range []string{
		"  {\n    \"name\": \"DB_PASSWORD\",\n    \"value\": \"F4KE x\"\n  },\n", "- name: DB_PASSWORD\n  value: F4KE x\n",
		"password: |\n  F4KE x\n  F4KE y\n", "api_keys:\n- F4KE1\n- F4KE2\n", "{'token':\n  'F4KE x'}\n",
	} {
		const line = "clean line\n"
		require.NotContains(t, sanitize.String(secret), "F4KE")
		for into := around - 2*len(line); into < around+len(secret)+2*len(line); into += 5 { // where the end would be
			before := (blockSize - into) / len(line)
			text := strings.Repeat(line, before) + secret + strings.Repeat(line, 2*around/len(line))
			b := blocks{from: strings.NewReader(text), buffer: make([]byte, blockSize)}
			first, err := b.next()
			require.NoError(t, err)
			require.Less(t, len(first), len(text))
			behind := sanitize.String(text[len(first):])
			assert.NotContains(t, sanitize.String(string(first[max(0, len(first)-200):]))+behind, "F4KE", "%q", secret)
		}
	}
}

// What follows a key is read in blocks of lines again; one that never ends is let go at
// the end of a line.
func TestRedactBehindAKey(t *testing.T) {
	const head, tail = "-----BEGIN PRIVATE" + " KEY-----\n", "-----END PRIVATE KEY-----\n"
	const line = "a password: F4KE1 and more\n"
	for key, lines := range map[string]int{head + "F4KE\n" + tail: 1 + longest/len(line)*2, head: 0} {
		b := blocks{from: strings.NewReader(key + strings.Repeat(line, longest/len(line)*2))}
		clean, most := 0, 0
		for {
			block, err := b.next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.Equal(t, byte('\n'), block[len(block)-1])
			clean += bytes.Count(block, []byte{'\n'})
			most = max(most, len(block))
		}
		assert.Equal(t, strings.Count(key, "\n")+longest/len(line)*2, clean)
		if lines > 0 {
			assert.LessOrEqual(t, most, blockSize, "a key that has ended keeps nothing back")
		}
		assert.LessOrEqual(t, len(b.buffer), longest)
	}
}

// An eye on the terminal sees how far it is, and nothing is left of that at the end.
func TestRedactProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for terminal, want := range map[bool]string{true: `^\r3 MB, \d lines changed\r\x1b\[K$`, false: "^$"} {
			block := strings.Repeat("clean\n", 2*blockSize/6)[:blockSize-len("token=F4KE\n")] + "token=F4KE\n"
			in := io.MultiReader(strings.NewReader(block), strings.NewReader(block), pause(2*time.Second), strings.NewReader(block))
			var out, errs bytes.Buffer
			assert.Equal(t, exitOK, run([]string{"redact"}, streams{in: in, out: &out, err: &errs, terminal: terminal}))
			assert.Regexp(t, want, errs.String())
			assert.Equal(t, 3, strings.Count(out.String(), "token=***"))
		}
	})
}

// pause is a reader that takes its time and has nothing.
type pause time.Duration

func (p pause) Read([]byte) (int, error) {
	time.Sleep(time.Duration(p))
	return 0, io.EOF
}

func TestRedactLongLines(t *testing.T) {
	in := io.LimitReader(repeated("x password=F4KE "), 40<<20)
	code, out, _ := call(in, "redact")
	assert.Equal(t, exitOK, code)
	assert.NotContains(t, out, "F4KE")
}

// A line that is too long to be kept is not cut within a secret, nor between it and its name.
func TestRedactTearsNoSecretApart(t *testing.T) {
	words := strings.Repeat("clean words ", longest/12+2)
	for _, secret := range []string{"password: F4KE93472 ", `{"password": "F4KE 3472 F4KE"} `} {
		for into := 0; into < len(secret)+16; into += 9 {
			text := words[:longest-around-into] + " " + secret + words[:8<<10]
			code, out, _ := call(strings.NewReader(text), "redact")
			assert.Equal(t, exitOK, code)
			require.False(t, strings.Contains(out, "F4KE"), "%s: %d", secret, into)
		}
	}
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
