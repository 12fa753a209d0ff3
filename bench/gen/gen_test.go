package main

import (
	"strings"
	"testing"
	"time"
)

func times(name string, seconds ...int) timing {
	t := timing{name: name}
	for _, s := range seconds {
		t.times = append(t.times, time.Duration(s)*time.Second)
	}
	return t
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		of   timing
		want time.Duration
	}{
		{times("a", 5, 1, 9), 5 * time.Second},
		{times("a", 1, 4, 3, 9), 3500 * time.Millisecond},
		{times("a", 7), 7 * time.Second},
	} {
		if got := test.of.median(); got != test.want {
			t.Errorf("%v: %v, want %v", test.of.times, got, test.want)
		}
	}
}

// One row that falls short is enough for the exit code, wherever it is.
func TestReport(t *testing.T) {
	holds := verdict{row{name: "r"}, times(ours, 1, 2, 3), times(moq, 2, 2, 2)}
	short := verdict{row{name: "r"}, times(ours, 1, 3, 3), times(moq, 2, 2, 9)}
	for _, test := range []struct {
		verdicts []verdict
		code     int
		says     string
	}{
		{[]verdict{holds}, 0, "1.00x  at most 1x  holds"},
		{[]verdict{short, holds}, 1, "1.50x  at most 1x  falls short"},
	} {
		var text strings.Builder
		code, err := report(&text, 3, test.verdicts, nil)
		if err != nil || code != test.code || !strings.Contains(text.String(), test.says) {
			t.Errorf("code %d, want %d, %v:\n%s", code, test.code, err, &text)
		}
	}
}

// A generator that writes nothing must not pass for a fast one.
func TestNothingWritten(t *testing.T) {
	m := &measurement{dir: t.TempDir(), bin: "/bin"}
	if _, err := m.timed([]string{"true"}, "*.go", ""); err == nil || !strings.Contains(err.Error(), "wrote nothing") {
		t.Error(err)
	}
}
