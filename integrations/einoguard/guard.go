package einoguard

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// Guard keeps broken tools away from the models of eino's agents. Make it once with
// [New]; it may protect any number of agents, which then know of each other's tools by
// their names. It is safe for concurrent use.
type Guard struct {
	tools      *toolguard.Guard
	mode       toolguard.Mode
	idle       bool // nothing is watched
	classifies bool
}

// frameworks are the tools that eino supplies itself: without them an agent cannot hand
// over or finish.
var frameworks = []string{adk.TransferToAgentToolName, adk.ToolInfoExit.Name}

// New makes a guard. The options are those of [toolguard.New], and so is the error; nil
// watches nothing. Eino's own tools for hand-over and exit are always excluded.
func New(options *toolguard.Options) (*Guard, error) {
	own := toolguard.Options{}
	if options != nil {
		own = *options
	}
	own.Exclude = slices.Concat(own.Exclude, frameworks)
	tools, err := toolguard.New(&own)
	if err != nil {
		return nil, err
	}
	return &Guard{
		tools: tools, mode: own.Mode,
		idle:       !own.MonitorAll && len(own.Monitor) == 0,
		classifies: own.Classify != nil,
	}, nil
}

// Tools returns the guard of the tools, to look at their circuits, to steer them, or to
// guard other tools by the same.
func (g *Guard) Tools() *toolguard.Guard { return g.tools }

// Close forgets all that is known of the tools. Agents that go on begin anew.
func (g *Guard) Close() { g.tools.Close() }

// Protect puts the guard into the configuration of an agent, before the agent is made.
// Call it for each configuration, and last: what is added to the Handlers later sees the
// tools before the guard does. The Handlers get a new slice. If the guard is in them, as in
// a copy of a configuration that was protected, it is moved: two of them would keep each
// other's probes from the model. What the Exit tool is called, and by which aliases the
// tools are, is taken from the configuration.
func (g *Guard) Protect(config *adk.ChatModelAgentConfig) {
	m := &middleware{guard: g, exit: config.Exit, canonical: canonical(config.ToolsConfig.ToolAliases)}
	config.Handlers = append(slices.DeleteFunc(slices.Clone(config.Handlers), g.isIn), m)
}

func (g *Guard) isIn(handler adk.ChatModelAgentMiddleware) bool {
	m, is := handler.(*middleware)
	return is && m.guard == g
}

// Middleware is for agents whose configuration is made elsewhere: put it last into their
// Handlers. It does not know of an Exit tool by another name than eino's (put it into
// [toolguard.Options].Exclude), nor of aliases. One may serve several agents.
func (g *Guard) Middleware() adk.ChatModelAgentMiddleware { return &middleware{guard: g} }

// ToolMiddleware is the guard on the call alone, for a [compose.ToolsNode] in a graph of
// your own: put it last into its ToolCallMiddlewares. For the list, make a
// [toolguard.Turn] with [Guard.Tools] before each request to the model, and run the node
// with the turn's Context; without one, what is due is claimed when it is called. infos
// are the tools' own, for their schemas; arguments of others are not checked.
func (g *Guard) ToolMiddleware(infos ...*schema.ToolInfo) compose.ToolMiddleware {
	return composed{guard: g, infos: byName(infos)}.middleware()
}

// canonical maps aliases to the names of their tools.
func canonical(aliases map[string]compose.ToolAliasConfig) map[string]string {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		for _, alias := range aliases[name].NameAliases {
			names[alias] = name
		}
	}
	return names
}
