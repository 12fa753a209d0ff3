package policies_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
)

// watched is a registry that watches a real file; the time is that of a bubble.
type watched struct {
	*testing.T
	*policies.Registry
	file string
	log  *journal
	stop context.CancelCauseFunc
	done chan error
}

// watching begins with a document and ends with the test.
func watching(t *testing.T, doc string, test func(*watched)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policies.json")
	synctest.Test(t, func(t *testing.T) {
		out := &journal{}
		options := &policies.Options{WatchInterval: time.Second}
		options.Logger = slog.New(slog.NewTextHandler(out, nil))
		reg, err := policies.Load(policies.Config{RetryMaxAttempts: new(9)}, options)
		require.NoError(t, err)
		ctx, stop := context.WithCancelCause(t.Context())
		w := &watched{T: t, Registry: reg, file: file, log: out, stop: stop, done: make(chan error, 1)}
		w.write(doc)
		go func() { w.done <- reg.Watch(ctx, file) }()
		synctest.Wait()
		test(w)
		stop(errDown)
		assert.Equal(t, errDown, <-w.done, "the cause of the context's end")
	})
}

func (w *watched) write(doc string) { require.NoError(w, os.WriteFile(w.file, []byte(doc), 0o600)) }

// looks lets it look once more.
func (w *watched) looks() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// attempts is what the file sets in these tests.
func (w *watched) attempts() int { return w.Policy("plan_service").Retry.MaxAttempts }

// logged is what has been logged since it was last asked.
func (w *watched) logged() string { return w.log.take() }

// journal collects what one goroutine logs and another reads.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.text.Reset()
	return j.text.String()
}

func TestWatchFollowsAFile(t *testing.T) {
	watching(t, `{"retry_max_attempts":2}`, func(w *watched) {
		assert.Equal(t, 2, w.attempts(), "what the file says holds at once")
		assert.Contains(t, w.logged(), "retry.max_attempts 9 → 2")
		w.looks()
		assert.Empty(t, w.logged(), "nothing is new")

		w.write(`{"retry_max_attempts":2,"retry_max_atempts":3}`)
		for range 3 {
			w.looks()
		}
		assert.Equal(t, 1, strings.Count(w.logged(), "unknown_key"), "a finding is told once")
		w.write(`{"retry_max_attempts":2}`)
		w.looks()

		w.write(`{"retry_max_attempts":4}`) // as long as before, and at the same time for coarse clocks
		w.looks()
		assert.Equal(t, 4, w.attempts())
		assert.Contains(t, w.logged(), "retry.max_attempts 2 → 4")

		other := filepath.Join(filepath.Dir(w.file), "other")
		require.NoError(t, os.WriteFile(other, []byte(`{"retry_max_attempts":5}`), 0o600))
		require.NoError(t, os.Rename(other, w.file))
		w.looks()
		assert.Equal(t, 5, w.attempts(), "replaced in one step")

		require.NoError(t, os.WriteFile(other, []byte(`{"retry_max_attempts":6}`), 0o600))
		link := other + "link"
		require.NoError(t, os.Symlink(other, link))
		require.NoError(t, os.Rename(link, w.file))
		w.looks()
		assert.Equal(t, 6, w.attempts(), "a link that is moved, as with config maps")
	})
}

// A document that is wrong changes nothing, and is told of once; while it is being
// written, not at all.
func TestWatchOfBadDocuments(t *testing.T) {
	watching(t, `{"retry_max_attempts":2}`, func(w *watched) {
		w.logged()
		w.write(`{"retry_max_att`)
		w.looks()
		w.write(`{"retry_max_attempts":3}`)
		w.looks()
		assert.Equal(t, 3, w.attempts())
		assert.NotContains(t, w.logged(), "WARN")

		w.write(`{"retry_max_attempts":7,"retry_jitter":"token=hunter2"}`)
		for range 5 {
			w.looks()
		}
		assert.Equal(t, 3, w.attempts())
		said := w.logged()
		assert.Equal(t, 1, strings.Count(said, "bad resilience setting"), said)
		assert.Equal(t, 1, strings.Count(said, "resilience settings not reloaded"), said)
		assert.Contains(t, said, "retry_jitter: is a string, want true or false")
		assert.NotContains(t, said, "hunter2")

		w.write(`{"retry_max_attempts":3}`) // taken back
		w.looks()
		w.write(`{"retry_max_attempts":7,"retry_jitter":"token=hunter2"}`) // and once more
		w.looks()
		w.looks()
		assert.Contains(t, w.logged(), "resilience settings not reloaded")
		w.write(`{"retry_max_attempts":7}`)
		w.looks()
		assert.Equal(t, 7, w.attempts())
	})
}

func TestWatchOfADocumentThatIsBadFromTheBeginning(t *testing.T) {
	watching(t, ``, func(w *watched) {
		assert.Equal(t, 9, w.attempts(), "as it was made")
		w.looks()
		assert.Contains(t, w.logged(), "resilience settings not reloaded")
		w.write(`{"retry_max_attempts":7}`)
		w.looks()
		assert.Equal(t, 7, w.attempts())
	})
}

// A file that is gone or too large changes nothing, and is told of once.
func TestWatchOfAFileThatCannotBeRead(t *testing.T) {
	watching(t, `{"retry_max_attempts":2}`, func(w *watched) {
		w.logged()
		for _, spoil := range []func(){
			func() { require.NoError(t, os.Remove(w.file)) },
			func() { w.write(`{"retry_max_attempts":7}` + strings.Repeat(" ", 1<<20)) },
		} {
			spoil()
			for range 3 {
				w.looks()
			}
			assert.Equal(t, 2, w.attempts())
			assert.Equal(t, 1, strings.Count(w.logged(), "resilience settings not reloaded"))
			w.write(`{"retry_max_attempts":2}`)
			w.looks()
			assert.Empty(t, w.logged(), "it is there again, and as it was")
		}
	})
}

// A pipe in the file's place would keep Watch for ever.
func TestWatchOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skipf("NOT RUN: no pipes with names here: %v", err)
	}
	reg := fromEnv(t, nil)
	ended := make(chan error, 1)
	go func() { ended <- reg.Watch(t.Context(), pipe) }()
	select {
	case err := <-ended:
		assert.ErrorContains(t, err, "is no regular file")
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the pipe")
	}
}

func TestWatchThatCannotBegin(t *testing.T) {
	reg := fromEnv(t, nil)
	err := reg.Watch(t.Context(), filepath.Join(t.TempDir(), "nowhere.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDown)
	file := filepath.Join(t.TempDir(), "policies.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"retry_max_attempts":2}`), 0o600))
	assert.True(t, errors.Is(reg.Watch(ctx, file), errDown))
	assert.Equal(t, 3, reg.Policy("plan_service").Retry.MaxAttempts, "its time was over")

	_, err = policies.Load(policies.Config{}, &policies.Options{WatchInterval: -1})
	assert.EqualError(t, err, "policies: Options.WatchInterval is -1ns, want 0 (which means 2s) or more")
}
