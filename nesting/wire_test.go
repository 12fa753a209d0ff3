package nesting_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/nesting"
)

func TestTheWireForm(t *testing.T) {
	tests := []struct {
		name string
		wire nesting.Wire
		text string
	}{
		{name: "nothing", text: ""},
		{name: "a depth", wire: nesting.Wire{Depth: 3}, text: "depth=3"},
		{
			name: "all of it", wire: nesting.Wire{Depth: 2, Left: 1500 * time.Millisecond, Path: []string{"plans.get", "store.read"}},
			text: "depth=2;left=1500;path=plans.get/store.read",
		},
		{
			name: "what is no letter is escaped", wire: nesting.Wire{Depth: 1, Path: []string{"a/b;c=d é\n"}},
			text: "depth=1;path=a%2Fb%3Bc%3Dd%20%C3%A9%0A",
		},
		{name: "less than a millisecond is one", wire: nesting.Wire{Depth: 1, Left: 1}, text: "depth=1;left=1"},
		{name: "no more than a day", wire: nesting.Wire{Depth: 1, Left: 1 << 62}, text: "depth=1;left=86400000"},
		{name: "the outermost names are missing", wire: nesting.Wire{Depth: 1, Path: []string{"a", "b"}}, text: "depth=1;path=b"},
		{name: "a name without text", wire: nesting.Wire{Depth: 1, Path: []string{""}}, text: "depth=1;path=_"},
		{name: "no more than 64", wire: nesting.Wire{Depth: 1000}, text: "depth=64"},
		{
			name: "long names are cut between runes", wire: nesting.Wire{Depth: 1, Path: []string{strings.Repeat("a", 63) + "é"}},
			text: "depth=1;path=" + strings.Repeat("a", 63),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.text, test.wire.String()) })
	}
}

func TestParseWire(t *testing.T) {
	full := nesting.Wire{Depth: 2, Left: 1500 * time.Millisecond, Path: []string{"plans.get", "store/read"}}
	good := map[string]nesting.Wire{
		"depth=2;left=1500;path=plans.get/store%2Fread":            full,
		"path=plans.get/store%2fread; depth=2; left=1500":          full,
		"depth=2;left=1500;path=plans.get/store%2Fread;more=\x00;": {}, // the empty field
		"depth=2;later=;left=1500;path=plans.get/store%2Fread":     full,
		"depth=64":                 {Depth: 64},
		"depth=1;left=0":           {Depth: 1, Left: 1},
		"depth=1;path=%0Aa%FF%1b~": {Depth: 1, Path: []string{"_a__~"}},
	}
	for text, want := range good {
		got, err := nesting.ParseWire(text)
		assert.Equal(t, want.Depth == 0, err != nil, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "depth", "=1", "depth=", "depth=0", "depth=-1", "depth=65", "depth=+1", "depth=1;depth=1", "path=a", "left=5",
		"depth=99999999999999999999", "depth=1;left=-1", "depth=1;left=1.5", "depth=1;left=86400001",
		"depth=1;left=99999999999999999999", "depth=1;path=", "depth=1;path=a/b", "depth=2;path=a/", "depth=1;path=a b",
		"depth=1;path=%", "depth=1;path=%4", "depth=1;path=%zz", "depth=1;path=%+1", "depth=1,path=a",
		"depth=64;path=" + strings.Repeat("a/", 16) + "a", "depth=1;path=" + strings.Repeat("a", 65),
		"depth=1;more=" + strings.Repeat("a", 1024),
	} {
		w, err := nesting.ParseWire(text)
		assert.Equal(t, nesting.ErrWire, err, "%q", text)
		assert.Equal(t, nesting.Wire{}, w, "%q", text)
	}
}

// What is written can be read, whatever it is made of.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := nesting.Wire{
			Depth: rapid.IntRange(1, 100).Draw(t, "depth"),
			Left:  time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "left")),
			Path:  rapid.SliceOfN(rapid.String(), 0, 40).Draw(t, "path"),
		}
		text := w.String()
		require.LessOrEqual(t, len(text), 1024)
		read, err := nesting.ParseWire(text)
		require.NoError(t, err, text)
		require.Equal(t, min(w.Depth, 64), read.Depth)
		require.Equal(t, w.Left > 0, read.Left > 0)
		require.LessOrEqual(t, read.Left, max(w.Left, time.Millisecond), "never longer than it was")
		again, err := nesting.ParseWire(read.String())
		require.NoError(t, err)
		require.Equal(t, read, again)
	})
}

func FuzzParseWire(f *testing.F) {
	for _, text := range []string{
		"", "depth=2;left=1500;path=plans.get/store.read", "depth=64;path=%FF/%0A", "depth=1; left=0;x=y", "depth=1;path=%E2%80%A6",
		"depth=9223372036854775807", "depth=1;left=9223372036854775807", ";;;;", "depth=1;path=////",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := nesting.ParseWire(text)
		if err != nil {
			assert.Equal(t, nesting.Wire{}, w)
			return
		}
		assert.True(t, w.Depth >= 1 && w.Depth <= 64)
		assert.True(t, len(w.Path) <= 16 && len(w.Path) <= w.Depth)
		assert.True(t, w.Left >= 0 && w.Left <= 24*time.Hour)
		for _, name := range w.Path {
			assert.True(t, name != "" && len(name) <= 64 && utf8.ValidString(name), "%q", name)
			assert.False(t, strings.ContainsAny(name, "\r\n\x00\x1b"), "%q", name)
		}
		ctx, leave := w.Enter(context.Background())
		defer leave()
		assert.Equal(t, w.Depth, nesting.Depth(ctx))
		_, err = nesting.ParseWire(w.String())
		assert.NoError(t, err)
	})
}

func TestCaptureSaysOnlyWhatWillBeRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		assert.Equal(t, nesting.Wire{}, nesting.Capture(ctx))
		assert.Equal(t, nesting.Wire{}, nesting.Capture(once(ctx, "plans", "apply")), "nobody retries")
		assert.Equal(t, nesting.Wire{}, nesting.Capture(returned(retrying(ctx, "plans", "get"))))
		assert.Equal(t, nesting.Wire{}, nesting.Capture(nesting.Detach(retrying(ctx, "plans", "get"))))
		assert.Equal(t, nesting.Wire{Depth: 2, Path: []string{"plans.get", "store.read"}},
			nesting.Capture(once(retrying(ctx, "plans", "get"), "store", "read")))

		late, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		time.Sleep(300 * time.Millisecond)
		assert.Equal(t, 700*time.Millisecond, nesting.Capture(retrying(late, "plans", "get")).Left)
		time.Sleep(time.Second)
		assert.Equal(t, time.Millisecond, nesting.Capture(retrying(late, "plans", "get")).Left)
	})
}

func TestA61EnterPutsTheCallsOfAnotherProcessAround(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, leave := nesting.Wire{Depth: 3, Path: []string{"plans.get", "store.read"}, Left: time.Second}.Enter(t.Context())
		assert.True(t, nesting.UnderRetry(ctx))
		assert.Equal(t, 3, nesting.Depth(ctx))
		assert.Equal(t, []string{"…", "plans.get", "store.read"}, nesting.Path(ctx))
		deadline, _ := ctx.Deadline()
		assert.Equal(t, start.Add(time.Second), deadline)

		inner := retrying(ctx, "index", "query")
		assert.Equal(t, "depth=4;left=1000;path=%E2%80%A6/plans.get/store.read/index.query", nesting.Capture(inner).String())

		leave()
		assert.False(t, nesting.UnderRetry(ctx), "what was asked for is done; a job that goes on retries by itself")
		assert.Zero(t, nesting.Depth(context.WithoutCancel(ctx)))
		assert.Equal(t, context.Canceled, ctx.Err())

		late, leave := nesting.Wire{Depth: 1, Left: time.Second}.Enter(t.Context())
		defer leave()
		<-late.Done()
		assert.Equal(t, context.DeadlineExceeded, late.Err())
		assert.Equal(t, start.Add(time.Second), time.Now())
	})
}

func TestEnterWithoutAScope(t *testing.T) {
	above := retrying(context.Background(), "plans", "get")
	ctx, leave := nesting.Wire{}.Enter(above)
	assert.Equal(t, []string{"plans.get"}, nesting.Path(ctx))
	leave()
	assert.Error(t, ctx.Err())
	assert.NoError(t, above.Err())
	inside, leave := nesting.Wire{Depth: 1, Path: []string{"a", "b"}}.Enter(above)
	defer leave()
	assert.Equal(t, []string{"plans.get", "b"}, nesting.Path(inside), "inside of what is there already")
}
