package sanitize_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/sanitize"
)

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("password=F4KE") }

func TestReplaceAttr(t *testing.T) {
	withPassword := &url.URL{Scheme: "https", User: url.UserPassword("u", "F4KE"), Host: "h"}
	failure := errors.New("not found")
	tests := []struct {
		name string
		attr slog.Attr
		want slog.Value
	}{
		{"string", slog.String("msg", "token=F4KE failed"), slog.StringValue("token=*** failed")},
		{"long string", slog.String("msg", strings.Repeat("x", 300)), slog.StringValue(strings.Repeat("x", 300))},
		{"error", slog.Any("err", errors.New("token=F4KE\nfailed")), slog.StringValue("token=*** failed")},
		{"error without a secret", slog.Any("err", failure), slog.AnyValue(failure)},
		{"Stringer", slog.Any("url", withPassword), slog.StringValue("https://***@h")},
		{"Stringer without a secret", slog.Any("level", slog.LevelInfo), slog.AnyValue(slog.LevelInfo)},
		{"Stringer that panics", slog.Any("url", (*url.URL)(nil)), slog.AnyValue((*url.URL)(nil))},
		{"bytes", slog.Any("body", []byte("token=F4KE")), slog.StringValue("token=***")},
		{"bytes without a secret", slog.Any("body", []byte("x")), slog.AnyValue([]byte("x"))},
		{"JSON", slog.Any("body", json.RawMessage(`{"token":"F4KE"}`)), slog.AnyValue(json.RawMessage(`{"token":"***"}`))},
		{"LogValuer", slog.Any("x", valuer{}), slog.StringValue("password=***")},
		{"number", slog.Int("max_tokens", 5), slog.IntValue(5)},
		{"secret key", slog.String("password", "swordfish"), slog.StringValue("***")},
		{"secret key, number", slog.Int("DB_PASSWORD", 83467219), slog.StringValue("***")},
		{"secret key, anything", slog.Any("clientSecret", []string{"F4KE"}), slog.StringValue("***")},
		{"secret key, error", slog.Any("token", failure), slog.StringValue("***")},
		{"secret key with a space", slog.String("API key", "F4KE"), slog.StringValue("***")},
		{"header", slog.String("Authorization", "Bearer F4KE"), slog.StringValue("***")},
		{"secret key, nothing", slog.Any("token", nil), slog.AnyValue(nil)},
		{"secret key, empty", slog.String("token", ""), slog.StringValue("")},
		{"secret key, switch", slog.Bool("has_password", true), slog.BoolValue(true)},
		{"no attribute", slog.Attr{}, slog.Value{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := sanitize.ReplaceAttr(nil, test.attr)
			assert.Equal(t, test.attr.Key, got.Key)
			assert.Equal(t, test.want.Any(), got.Value.Any())
		})
	}
}

// A91: one hook covers whatever a program logs.
func TestReplaceAttrInHandlers(t *testing.T) {
	options := &slog.HandlerOptions{ReplaceAttr: sanitize.ReplaceAttr}
	var out bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, options), slog.NewJSONHandler(&out, options)} {
		slog.New(handler).With("api_key", "F4KE").WithGroup("request").Error("password=F4KE",
			"url", "https://u:F4KE@h", slog.Group("inner", "token", "F4KE", "err", errors.New("secret=F4KE")))
	}
	assert.NotContains(t, out.String(), "F4KE")
	assert.Equal(t, 2*5, strings.Count(out.String(), "***"))
	assert.Contains(t, out.String(), `"level":"ERROR"`)
}
