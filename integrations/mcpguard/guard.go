package mcpguard

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// Guard keeps broken tools away from the clients of MCP servers, and from the models
// behind client sessions. Make it once with [New]; it may protect any number of servers
// and sessions, which then know of each other's tools by their names. It is safe for
// concurrent use.
type Guard struct {
	tools *toolguard.Guard
	hides bool // from lists
	bell  bell
}

// New makes a guard. The options are those of [toolguard.New], and so is the error; nil
// watches nothing. The guard adds an observer of its own to them.
func New(options *toolguard.Options) (*Guard, error) {
	own := toolguard.Options{}
	if options != nil {
		own = *options
	}
	g := &Guard{hides: own.Mode == toolguard.Withhold}
	if g.hides {
		own.Observers = append(slices.Clone(own.Observers), resilient.Observer(&g.bell))
	}
	tools, err := toolguard.New(&own)
	if err != nil {
		return nil, err
	}
	g.tools = tools
	g.bell.tools = tools
	return g, nil
}

// Tools returns the guard of the tools, to look at their circuits, to steer them, or to
// guard other tools by the same.
func (g *Guard) Tools() *toolguard.Guard { return g.tools }

// Close forgets all that is known of the tools, and tells no client of anything any more.
// Servers and sessions that go on begin anew.
func (g *Guard) Close() {
	g.bell.close()
	g.tools.Close()
}

// Protect puts the guard before a server's tools. Call it for each server, before its
// first session; middleware that is added later sees what the guard refuses, too. A second
// time does nothing.
func (g *Guard) Protect(server *mcp.Server) {
	s := &served{guard: g, server: server}
	if !g.bell.add(s) {
		return
	}
	server.AddReceivingMiddleware(s.receiving)
	server.AddSendingMiddleware(s.sending)
}
