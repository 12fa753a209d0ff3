package sanitize_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }

// R23, R24
func TestErrorHidesTheTextOnly(t *testing.T) {
	original := fmt.Errorf("open password=F4KE: %w", &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist})
	err := sanitize.Error(original)

	assert.EqualError(t, err, "open password=***: open /x: file does not exist")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, err, original)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	assert.NoError(t, errors.Unwrap(err), "who unwraps an error prints what is inside")
	assert.Contains(t, original.Error(), "F4KE", "the original is not changed")

	for _, verb := range []string{"%v", "%+v", "%s", "%q", "%#v", "%x", "%d", "%10.3v", "%-40s|"} {
		assert.NotContains(t, fmt.Sprintf(verb, err), "F4KE", verb)
	}
}

func TestErrorOfNothing(t *testing.T) {
	assert.NoError(t, sanitize.Error(nil))
}

func TestErrorIsWrappedOnce(t *testing.T) {
	err := sanitize.Error(errors.New("secret=F4KE"))
	assert.Same(t, err, sanitize.Error(err))
}

func TestErrorIsCut(t *testing.T) {
	assert.EqualError(t, sanitize.Error(errors.New(strings.Repeat("é", 300))), strings.Repeat("é", 200)+"...")
}

func TestErrorMethodThatPanics(t *testing.T) {
	var missing *pointerError
	assert.NotPanics(t, func() {
		assert.Contains(t, sanitize.Error(missing).Error(), "panic in Error")
	})
}

type countingError struct{ calls *int }

func (e countingError) Error() string {
	*e.calls++
	return "token=F4KE"
}

func TestErrorTextIsComputedOnce(t *testing.T) {
	calls := 0
	err := sanitize.Error(countingError{&calls})
	assert.Zero(t, calls, "not before it is asked for")

	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.EqualError(t, err, "token=***") })
	}
	group.Wait()
	assert.Equal(t, 1, calls)
}
