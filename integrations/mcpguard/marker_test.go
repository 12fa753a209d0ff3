package mcpguard_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
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

// A91: what a tool fails with, and what it is called with, is in nothing that the guard says: neither in the results of
// refused calls, nor in the notice, nor in the log. (The results of calls that have run are the tool's own.)
func TestNoSecretReachesTheModel(t *testing.T) {
	sinks := marker.New(t, "integrations/mcpguard")
	for input, p := range map[string]struct {
		fail            error
		arguments, tool string
	}{
		"tool's error": {fail: errors.New(marker.Text)},
		"arguments":    {arguments: marker.Text},
		"tool's name":  {tool: " token=" + marker.Secret},
	} {
		t.Run(input, func(t *testing.T) {
			out, log := sinks.Seed(t, input), &lockedLog{}
			if p.fail == nil {
				p.fail = errors.New("down")
			}
			name := "search" + p.tool
			made := func() *mcp.Server {
				server := newServer(newBackend(works), nil)
				mcp.AddTool(server, &mcp.Tool{Name: name, Description: "searches"}, newBackend(raises(p.fail)).handle)
				return server
			}
			server := made()
			options := watchAll()
			options.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			onServer, err := mcpguard.New(&options)
			require.NoError(t, err)
			t.Cleanup(onServer.Close)
			onServer.Protect(server)
			c := inMemory(t, server, legacy, nil)
			behind, err := mcpguard.New(&toolguard.Options{MonitorAll: true, Logger: options.Logger})
			require.NoError(t, err)
			t.Cleanup(behind.Close)
			session := behind.Client(inMemory(t, made(), legacy, nil).ClientSession, nil)
			params := &mcp.CallToolParams{Name: name, Arguments: ask("x" + p.arguments)}
			for i := range 8 {
				result, err := c.CallTool(t.Context(), params)
				require.NoError(t, err)
				refused, err := session.CallTool(t.Context(), params)
				require.NoError(t, err)
				if i < 3 {
					continue // the tool has run
				}
				for _, r := range []*mcp.CallToolResult{result, refused} {
					encoded, err := json.Marshal(r)
					require.NoError(t, err)
					out.Put("result of a refused call", string(encoded), text(t, r))
				}
			}
			turn, err := session.Turn(t.Context())
			require.NoError(t, err)
			out.Put("Notice", turn.Notice())
			out.Put("log at debug", log.text.String())
		})
	}
}
