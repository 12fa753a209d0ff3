package sanitize_test

import (
	"bytes"
	"errors"
	"log"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

var testTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// Wherever the writes are cut, the lines come out whole.
func TestWriterByLines(t *testing.T) {
	const text = "a password=F4KE b\n\n{\"token\":\"F4KE\"}\nx https://u:F4KE@h/p"
	const want = "a password=*** b\n\n{\"token\":\"***\"}\nx https://***@h/p"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := sanitize.NewWriter(&out)
		for at := 0; at < len(text); at += size {
			part := []byte(text[at:min(len(text), at+size)])
			n, err := w.Write(part)
			require.NoError(t, err)
			require.Equal(t, len(part), n)
			clear(part) // it keeps no reference
		}
		require.NoError(t, w.Close())
		assert.Equal(t, want, out.String())
	}
}

func TestWriterIsBounded(t *testing.T) {
	var out bytes.Buffer
	w := sanitize.NewWriter(&out)
	for range 3 << 10 {
		_, err := w.Write([]byte(strings.Repeat("x", 1000) + " password=F4KE "))
		require.NoError(t, err)
	}
	assert.Greater(t, out.Len(), 1<<20, "before the line ends")
	require.NoError(t, w.Close())
	assert.NotContains(t, out.String(), "F4KE")
	assert.Equal(t, 3<<10, strings.Count(out.String(), "password=***"))
}

// A line that is let go in pieces is not cut within a secret, nor between it and its name.
func TestWriterTearsNoSecretApart(t *testing.T) {
	words := strings.Repeat("clean words ", 1<<20/12+2)
	for _, secret := range []string{"password: F4KE93472 ", `{"password": "F4KE 3472 F4KE"} `, `"Authorization": "Bearer F4KEabc123" `} {
		for into := 0; into < len(secret)+16; into += 6 {
			var out bytes.Buffer
			w := sanitize.NewWriter(&out)
			_, err := w.Write([]byte(words[:1<<20-4<<10-into] + " " + secret + words[:8<<10])) // the cut is near
			require.NoError(t, err)
			require.NotZero(t, out.Len())
			require.NoError(t, w.Close())
			require.False(t, strings.Contains(out.String(), "F4KE"), "%s: %d", secret, into)
			require.Equal(t, strings.Count(words[:1<<20-4<<10-into], "clean")+strings.Count(words[:8<<10], "clean"), strings.Count(out.String(), "clean"))
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriterFails(t *testing.T) {
	n, err := sanitize.NewWriter(failing{}).Write([]byte("a\n"))
	require.EqualError(t, err, "full")
	assert.Zero(t, n)
}

func TestWriterIsSafe(t *testing.T) {
	var out bytes.Buffer
	logger := log.New(sanitize.NewWriter(&out), "", 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				logger.Print("token=F4KE ok")
			}
		})
	}
	wg.Wait()
	assert.Equal(t, strings.Repeat("token=*** ok\n", 400), out.String())
}
