package mcpguard

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// ClientOptions are a session's own. Nil is the zero value.
type ClientOptions struct {
	// Prefix goes before the names of the session's tools, where one guard has several
	// servers with tools of the same name: "github/". The model does not see it.
	Prefix string
}

// Session is a client session under a guard. It is safe for concurrent use.
type Session struct {
	guard   *Guard
	session *mcp.ClientSession
	prefix  string
	listed  atomic.Pointer[[]*mcp.Tool] // by the last turn, for their schemas
}

// Client puts the guard behind a client session. The session itself stays as it is: what
// is called there is not guarded.
func (g *Guard) Client(session *mcp.ClientSession, options *ClientOptions) *Session {
	s := &Session{guard: g, session: session}
	if options != nil {
		s.prefix = options.Prefix
	}
	return s
}

// Turn is one turn of the model with the tools of a session. Close it when the calls that
// the model has asked for are done. The names in what is embedded have the session's
// Prefix.
type Turn struct {
	*toolguard.Turn
	session *Session
	tools   []*mcp.Tool
}

// Turn lists the session's tools, all pages, and looks which of them the model may have
// now; what is due is claimed for this turn. The list may come from the SDK's own cache,
// which is not changed: what is withheld is looked up each time. The error is that of
// [mcp.ClientSession.ListTools].
func (s *Session) Turn(ctx context.Context) (*Turn, error) {
	all, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	known := names(all)
	for i := range known {
		known[i] = s.prefix + known[i]
	}
	turn := s.guard.tools.Turn(ctx, known)
	return &Turn{Turn: turn, session: s, tools: toolguard.Filter(turn, all, func(tool *mcp.Tool) string { return s.prefix + tool.Name })}, nil
}

// Tools are those that the model may have in this turn, in the server's order.
func (t *Turn) Tools() []*mcp.Tool { return t.tools }

// turnKey is where a context has the turn of a session.
type turnKey struct{ session *Session }

// Context returns a context that carries the turn, so that [Session.CallTool] finds it,
// beside those of other sessions.
func (t *Turn) Context(ctx context.Context) context.Context {
	if ctx == nil {
		return ctx
	}
	return context.WithValue(t.Turn.Context(ctx), turnKey{t.session}, t)
}

// begin asks for the permit, in the session's own turn if there is one.
func (s *Session) begin(ctx context.Context, tool string) (*toolguard.Permit, error) {
	if ctx != nil {
		if own, ok := ctx.Value(turnKey{s}).(*Turn); ok {
			return own.Begin(ctx, tool)
		}
	}
	return s.guard.tools.Begin(ctx, tool)
}

// CallTool is [Session.CallTool] in this turn.
func (t *Turn) CallTool(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	return t.session.CallTool(t.Context(ctx), params)
}

// CallTool calls a tool under the guard, in the session's turn that ctx carries if it does;
// where ctx has a turn of another session only, the tool does not exist in that, and is not
// guarded. A
// refusal is a normal result, with a text for the model, and no error; the server is not
// asked. Anything else is what [mcp.ClientSession.CallTool] returns.
func (s *Session) CallTool(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if params == nil {
		return s.session.CallTool(ctx, params)
	}
	permit, err := s.begin(ctx, s.prefix+params.Name)
	if err != nil {
		return answer(err, func(refused *toolguard.RefusedError) { s.unprefix(refused, params.Name) })
	}
	if !permit.Watched() {
		return s.session.CallTool(ctx, params)
	}
	c := call{permit: permit, misfit: func() bool {
		return misfit(find(s.known(permit.Context()), params.Name), params.Arguments)
	}}
	return c.run(permit.Context(), func(ctx context.Context) (*mcp.CallToolResult, error) {
		return s.session.CallTool(ctx, params)
	})
}

// known are the session's tools as the last turn has listed them; where there was no turn
// yet, they are listed for this.
func (s *Session) known(ctx context.Context) []*mcp.Tool {
	if listed := s.listed.Load(); listed != nil {
		return *listed
	}
	all, err := s.list(ctx)
	if err != nil {
		return nil
	}
	return all
}

// list lists all pages, and keeps them.
func (s *Session) list(ctx context.Context) (all []*mcp.Tool, err error) {
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	s.listed.Store(&all)
	return all, nil
}

// unprefix gives the tools the names that the model knows.
func (s *Session) unprefix(refused *toolguard.RefusedError, name string) {
	refused.Tool = name
	others := make([]string, len(refused.Others))
	for i, other := range refused.Others {
		others[i] = strings.TrimPrefix(other, s.prefix)
	}
	refused.Others = others
}
