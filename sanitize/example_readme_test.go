package sanitize_test

import (
	"errors"
	"log/slog"
	"os"

	"github.com/seed42274fcc/stoic/sanitize"
)

// What the README shows is compiled here.
func logsWithoutSecrets() {
	// region slog
	logger := slog.New(sanitize.NewHandler(slog.NewJSONHandler(os.Stderr, nil)))
	err := errors.New("dial postgres://app:hunter2@db:5432/plans: refused")
	logger.Warn("no session", "api_key", "abc", "err", err)
	// {…"msg":"no session","api_key":"***","err":"dial postgres://***@db:5432/plans: refused"}
	// endregion
}

var _ = logsWithoutSecrets
