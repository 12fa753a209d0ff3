package sanitize_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"encoding/json"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

type valuerGroup struct{}

func (valuerGroup) LogValue() slog.Value {
	return slog.GroupValue(slog.String("password", "F4KE"), slog.String("user", "bob"))
}

func TestHandler(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(sanitize.NewHandler(slog.NewJSONHandler(&out, nil)))
	logger.With("api_key", "F4KE", "region", "eu").WithGroup("request").With(slog.Group("inner", "url", "https://u:F4KE@h")).
		Error("password=F4KE", "token", "F4KE", "err", errors.New("secret=F4KE"), "who", valuerGroup{}, "n", 1, "body", []byte("token=F4KE"), "raw", json.RawMessage(`{"token":"F4KE"}`),
			slog.Group("credentials", "user", "F4KE", "id", 83467219), slog.Group("deep", slog.Group("deeper", "jwt", "F4KE")))
	logger.WithGroup("passwords").Info("m", "bob", "F4KE", "n", 83467218, slog.Group("tokens", "ci", "F4KE", "spent", 7))
	logger.WithGroup("secret").With("a", "F4KE").Info("m", "b", "F4KE", slog.Group("c", "d", "F4KE"))
	text := out.String()
	assert.NotContains(t, text, "F4KE")
	assert.NotContains(t, text, "83467219")
	assert.Contains(t, text, `"region":"eu"`)
	assert.Contains(t, text, `"user":"bob"`)
	assert.Contains(t, text, `"n":1`)
	assert.Contains(t, text, `"n":83467218`)
	assert.Contains(t, text, `"spent":7`)
	assert.Contains(t, text, `https://***@h`)
}

// The wrapped handler gets the record as it is where nothing is secret.
func TestHandlerPassesCleanRecordsOn(t *testing.T) {
	handler := sanitize.NewHandler(slog.DiscardHandler)
	inner := &counting{}
	record := slog.NewRecord(testTime, slog.LevelInfo, "request done", 0)
	record.AddAttrs(slog.String("method", "GET"), slog.Int("status", 200), slog.Group("g", "n", 1), slog.Any("v", []int{1}))
	require.NoError(t, sanitize.NewHandler(inner).Handle(context.Background(), record))
	assert.Equal(t, record, inner.last)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = handler.Handle(context.Background(), record) }))
}

type counting struct {
	slog.Handler
	last slog.Record
}

func (c *counting) Handle(_ context.Context, r slog.Record) error { c.last = r; return nil }

func TestHandlerConforms(t *testing.T) {
	var out bytes.Buffer
	handler := sanitize.NewHandler(slog.NewJSONHandler(&out, nil))
	require.NoError(t, slogtest.TestHandler(handler, func() []map[string]any {
		var records []map[string]any
		for line := range strings.Lines(out.String()) {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			records = append(records, record)
		}
		return records
	}))
}
