package einoguard

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// middleware is the guard in an agent. What belongs to a run is in the run's context.
type middleware struct {
	adk.BaseChatModelAgentMiddleware
	guard     *Guard
	exit      tool.BaseTool     // the agent's own; nil if there is none
	canonical map[string]string // a tool's name, by its aliases
}

// runKey is where a context has the run of an agent. An agent that is another's tool puts
// its own there.
type runKey struct{ guard *Guard }

func (m *middleware) runIn(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{m.guard}).(*run)
	return r
}

// BeforeAgent begins a run, or goes on with one after an interrupt.
func (m *middleware) BeforeAgent(ctx context.Context, agent *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	return context.WithValue(ctx, runKey{m.guard}, &run{}), agent, nil
}

// AfterAgent ends a run that has come to its answer. Others end with their context.
func (m *middleware) AfterAgent(ctx context.Context, _ *adk.ChatModelAgentState) (context.Context, error) {
	m.runIn(ctx).current().close()
	return ctx, nil
}

// WrapModel is the filter on the list: a turn for each request, those that are repeated
// among them.
func (m *middleware) WrapModel(ctx context.Context, next model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	run := m.runIn(ctx)
	if m.guard.idle || run == nil {
		return next, nil
	}
	return &filteredModel{next: next, middleware: m, run: run}, nil
}

// AfterModelRewriteState looks at what the model has asked for.
func (m *middleware) AfterModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	if n := len(state.Messages); n > 0 && state.Messages[n-1] != nil {
		var names []string
		for _, call := range state.Messages[n-1].ToolCalls {
			names = append(names, m.nameOf(call.Function.Name))
		}
		m.runIn(ctx).current().answered(names)
	}
	return ctx, state, nil
}

// nameOf is the tool's own name, whatever it is called by.
func (m *middleware) nameOf(called string) string {
	if name, ok := m.canonical[called]; ok {
		return name
	}
	return called
}

// exitName is what the tool that ends the agent is called; "" if there is none. Eino has
// asked before, and goes without an agent where the tool does not know.
func (m *middleware) exitName(ctx context.Context) string {
	if m.exit == nil {
		return ""
	}
	info, err := m.exit.Info(ctx)
	if err != nil {
		return ""
	}
	return nameOf(info)
}

// filteredModel is a model that is asked with the tools of a turn.
type filteredModel struct {
	next       model.BaseChatModel
	middleware *middleware
	run        *run
}

// Generate is part of model.BaseChatModel.
func (f *filteredModel) Generate(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	turn, options := f.turn(ctx, options)
	answered := false
	defer func() {
		if !answered {
			turn.close()
		}
	}()
	message, err := f.next.Generate(ctx, input, options...)
	answered = err == nil
	return message, err
}

// Stream is part of model.BaseChatModel.
func (f *filteredModel) Stream(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	turn, options := f.turn(ctx, options)
	answers := false
	defer func() {
		if !answers {
			turn.close()
		}
	}()
	stream, err := f.next.Stream(ctx, input, options...)
	if answers = err == nil && stream != nil; !answers {
		return stream, err
	}
	same := func(message *schema.Message) (*schema.Message, error) { return message, nil }
	return schema.StreamReaderWithConvert(stream, same, schema.WithErrWrapper(func(err error) error {
		turn.close()
		return err
	})), nil
}

// turn opens the turn of a request, and returns the options for it.
func (f *filteredModel) turn(ctx context.Context, options []model.Option) (*turn, []model.Option) {
	m := f.middleware
	asked := request{Options: model.GetCommonOptions(nil, options...), options: options}
	t := &turn{infos: byName(asked.all()), forced: asked.forced()}
	delete(t.infos, t.forced)
	delete(t.infos, m.exitName(ctx))
	var names []string
	for _, info := range asked.all() {
		if name := nameOf(info); t.infos[name] != nil {
			names = append(names, name)
		}
	}
	t.Turn = m.guard.tools.Turn(ctx, names)
	f.run.open(ctx, t)
	return t, asked.under(t.Turn, m.guard.mode)
}
