// Package adk is a recipe: toolguard in the agents of Go's Agent Development Kit.
package adk

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
	"github.com/seed42274fcc/stoic/sanitize"
)

// region model

// Model is a model with a turn for each request: give it to llmagent.Config.
func Model(llm model.LLM, guard *toolguard.Guard) model.LLM { return guarded{llm, guard} }

type guarded struct {
	model.LLM
	guard *toolguard.Guard
}

func (m guarded) GenerateContent(ctx context.Context, request *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		turn := m.guard.Turn(ctx, slices.Sorted(maps.Keys(request.Tools)))
		defer turn.Close() // the calls that the model asks for are made inside of yield
		for name, t := range request.Tools {
			request.Tools[name] = protect(m.guard, turn, t) // the agent looks them up here, also those that are not offered
		}
		own := *request
		own.Config = withheld(turn, request.Config)
		for response, err := range m.LLM.GenerateContent(ctx, &own, stream) {
			if handsOver(request, response) {
				turn.Close() // the other agent runs inside of yield, too
			}
			if !yield(response, err) {
				return
			}
		}
	}
}

func withheld(turn *toolguard.Turn, config *genai.GenerateContentConfig) *genai.GenerateContentConfig {
	if config == nil || len(turn.Withheld()) == 0 {
		return config
	}
	own := *config
	own.Tools = slices.Clone(config.Tools)
	for i, t := range own.Tools {
		if t != nil {
			mine := *t
			mine.FunctionDeclarations = toolguard.Filter(turn, t.FunctionDeclarations, nameOf)
			own.Tools[i] = &mine
		}
	}
	return &own
}

// endregion

// region tool

// Protect guards what is called without Model: what somebody has confirmed, and all in RunLive. Give what it returns to
// llmagent.Config.
func Protect(guard *toolguard.Guard, t tool.Tool) tool.Tool {
	return protect(guard, nil, t).(tool.Tool)
}

func protect(guard *toolguard.Guard, turn *toolguard.Turn, t any) any {
	switch t := t.(type) {
	case *protected:
		return &protected{t.runnable, guard, turn}
	case task: // is not run: the answer comes from the other agent
		return t
	case runnable:
		return &protected{t, guard, turn}
	}
	return t
}

type runnable interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	ProcessRequest(ctx agent.Context, request *model.LLMRequest) error
	Run(ctx agent.Context, args any) (map[string]any, error)
}

type protected struct {
	runnable
	guard *toolguard.Guard
	turn  *toolguard.Turn
}

func (p *protected) Run(tools agent.Context, args any) (map[string]any, error) {
	if err := p.check(args); err != nil {
		return nil, safe{err} // says nothing about the tool
	}
	result, err := toolguard.Call(p.turn.Context(tools), p.guard, p.Name(), args, func(ctx context.Context, args any) (map[string]any, error) {
		own := tools
		if ctx != context.Context(tools) { // it has the tool's time limit
			copied, cancel := tools.WithAgentCancel() // a copy, since a tool's context itself has no WithAgentContext
			defer cancel()
			own = copied.WithAgentContext(ctx)
		}
		result, err := p.runnable.Run(own, args)
		switch {
		case errors.Is(err, tool.ErrConfirmationRequired):
			err = toolguard.WithOutcome(err, toolguard.Running)
		case errors.Is(err, tool.ErrConfirmationRejected):
			err = toolguard.WithOutcome(err, toolguard.Denied)
		}
		return result, err
	})
	var refused *toolguard.RefusedError
	switch {
	case errors.As(err, &refused):
		return map[string]any{"output": refused.Message()}, nil // a result like any other: no error
	case err != nil:
		return nil, safe{err}
	}
	return result, nil
}

// endregion

// check has the say that the tool itself would have, before a probe is spent on it.
func (p *protected) check(args any) error {
	declaration := p.Declaration()
	if declaration == nil {
		return nil
	}
	schema, ok := declaration.ParametersJsonSchema.(*jsonschema.Schema)
	if !ok {
		return nil
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil // then it is for the tool to say
	}
	return resolved.Validate(args)
}

// safe is an error that the model may read.
type safe struct{ error }

func (e safe) Error() string { return sanitize.String(e.error.Error()) }
func (e safe) Unwrap() error { return e.error }

// task is the tool that stands for another agent that does tasks.
type task interface{ DefersResponse() bool }

func handsOver(request *model.LLMRequest, response *model.LLMResponse) bool {
	return response != nil && response.Content != nil && slices.ContainsFunc(response.Content.Parts, func(part *genai.Part) bool {
		if part == nil || part.FunctionCall == nil {
			return false
		}
		_, isTask := request.Tools[part.FunctionCall.Name].(task)
		return isTask || part.FunctionCall.Name == "transfer_to_agent"
	})
}

func nameOf(declaration *genai.FunctionDeclaration) string { return declaration.Name }

// GetGoogleLLMVariant says what ADK asks its own models for, and what the interface does not have.
func (m guarded) GetGoogleLLMVariant() genai.Backend {
	if google, ok := m.LLM.(interface{ GetGoogleLLMVariant() genai.Backend }); ok {
		return google.GetGoogleLLMVariant()
	}
	return genai.BackendUnspecified
}
