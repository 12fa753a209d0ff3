package logs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/seed42274fcc/stoic/docs/recipes/logs"
)

const secret = "F4KEs3cr3t"

type config struct {
	Host     string
	Password string
	Headers  map[string][]string
}

var dumped = config{
	Host:     "db1",
	Password: secret,
	Headers:  map[string][]string{"Authorization": {"Bearer " + secret}},
}

var errDial = errors.New("dial postgres://app:" + secret + "@db1:5432/plans: refused")

// TestSlog: whatever an attribute is, its secret does not reach the writer, and the record stays JSON.
func TestSlog(t *testing.T) {
	var out bytes.Buffer
	logger := logs.NewSlog(&out).With("api_key", secret)
	logger.Info("started with password="+secret, "config", dumped, "err", errDial, "token", secret)
	logger.Error("failed", "config", &dumped, "headers", http.Header(dumped.Headers), "host", "db1")
	clean(t, out.Bytes(), 2)
}

// TestZap: likewise.
func TestZap(t *testing.T) {
	var out bytes.Buffer
	logger, closer := logs.NewZap(&out)
	sugar := logger.With(zap.String("api_key", secret)).Sugar()
	sugar.Infow("started with password="+secret, "config", dumped, "err", errDial, "token", secret)
	sugar.Infof("plain %+v", dumped)
	logger.Error("failed", zap.Error(errDial), zap.Any("config", &dumped), zap.ByteString("client_secret", []byte(secret)))
	require.NoError(t, logger.Sync())
	require.NoError(t, closer.Close())
	clean(t, out.Bytes(), 3)
}

// TestZerolog: likewise.
func TestZerolog(t *testing.T) {
	var out bytes.Buffer
	logger := logs.NewZerolog(&out).With().Str("api_key", secret).Logger()
	logger.Info().Str("token", secret).Interface("config", dumped).Err(errDial).Msg("started with password=" + secret)
	logger.Error().Dict("auth", zerolog.Dict().Str("client_secret", secret)).Msgf("plain %+v", dumped)
	clean(t, out.Bytes(), 2)
}

func clean(t *testing.T, out []byte, records int) {
	t.Helper()
	assert.NotContains(t, string(out), secret)
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	assert.Len(t, lines, records)
	for _, line := range lines {
		assert.True(t, json.Valid(line), "%s", line)
		assert.Contains(t, string(line), "db1", "what is clean stays")
	}
}
