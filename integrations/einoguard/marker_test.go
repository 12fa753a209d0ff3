package einoguard_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/einoguard"
	"github.com/seed42274fcc/stoic/internal/marker"
)

// lockedLog is a log.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// A91: what a tool fails with, and what it is called with, is in nothing that the guard says. (The results of calls that
// have run are the tool's own.)
func TestNoSecretReachesTheModel(t *testing.T) {
	sinks := marker.New(t, "integrations/einoguard")
	for input, p := range map[string]struct {
		fail            error
		tool, arguments string
	}{
		"tool's error": {fail: errors.New(marker.Text)},
		"arguments":    {arguments: marker.Pair},
		"tool's name":  {tool: " token=" + marker.Secret},
	} {
		t.Run(input, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				out, log := sinks.Seed(t, input), &lockedLog{}
				if p.fail == nil {
					p.fail = errors.New("down")
				}
				options := watchAll()
				options.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				g, err := einoguard.New(&options)
				require.NoError(t, err)
				t.Cleanup(g.Close)
				name := "search" + p.tool
				m := turns(8, name)
				plain := m.answer
				m.answer = func(a asked) (*schema.Message, error) {
					message, err := plain(a)
					for i := range message.ToolCalls {
						message.ToolCalls[i].Function.Arguments = `{"text":"` + p.arguments + `"}`
					}
					return message, err
				}
				o := run(t, g, configured(m, invokable{newBackend("calc", works)}, invokable{newBackend(name, raises(p.fail))}))
				require.NoError(t, o.err)
				require.Len(t, o.results, 8)
				for _, text := range o.results[3:] {
					out.Put("result of a refused call", text)
				}
				out.Put("log at debug", log.text.String())
			})
		})
	}
}
