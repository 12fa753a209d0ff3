// Package logs shows how loggers write through package sanitize.
package logs

import (
	"io"
	"log/slog"

	"github.com/rs/zerolog"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/seed42274fcc/stoic/sanitize"
)

// region slog

// NewSlog makes a logger whose records have their secrets taken out, those in structs, maps and slices too.
func NewSlog(to io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(sanitize.NewWriter(to), nil))
}

// endregion slog

// region zap

// NewZap makes a logger whose records have their secrets taken out. Close the writer
// when the program ends, as Sync would for a file.
func NewZap(to io.Writer) (*zap.Logger, io.Closer) {
	clean := sanitize.NewWriter(to)
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(clean), zap.InfoLevel)), clean
}

// endregion zap

// region zerolog

// NewZerolog makes a logger whose records have their secrets taken out.
func NewZerolog(to io.Writer) zerolog.Logger {
	return zerolog.New(sanitize.NewWriter(to)).With().Timestamp().Logger()
}

// endregion zerolog
