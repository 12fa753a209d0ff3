package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
)

// longestTask is how many rounds an agent may take.
const longestTask = 10

// round is one request to the model, and what came of the calls that it asked for.
type round struct {
	offered []string
	probing bool // what is offered of search is the probe
	move    move
	results []result // one for each call, in their order
}

// wasted reports whether there were calls, and all in vain.
func (r round) wasted() bool {
	return len(r.results) > 0 && !slices.ContainsFunc(r.results, result.useful)
}

// task is what an agent has done for an answer.
type task struct {
	replica string
	rounds  []round
	answer  string // "" if there is none
}

// work lets a model work on a question. The error is one of the session; what goes wrong with a tool is for the model.
func (r *replica) work(ctx context.Context, ask model, question string) (task, error) {
	done := task{replica: r.name}
	var last []result
	for range longestTask {
		one, err := r.round(ctx, ask, question, last)
		if err != nil {
			return done, err
		}
		done.rounds = append(done.rounds, one)
		if len(one.move.calls) == 0 {
			done.answer = one.move.answer
			return done, nil
		}
		last = one.results
	}
	return done, nil
}

// round is all of the loop that knows of the guard: a turn before each request to the model, the tools from the turn,
// the calls by the turn, and its end.
func (r *replica) round(ctx context.Context, ask model, question string, last []result) (round, error) {
	turn, err := r.session.Turn(ctx)
	if err != nil {
		return round{}, fmt.Errorf("replica %s lists its tools: %w", r.name, err)
	}
	defer turn.Close() // gives back a probe that the model has not used
	one := round{offered: offered(turn), probing: r.probing()}
	one.move = ask(one.offered, last)
	one.results = make([]result, len(one.move.calls))
	var calls sync.WaitGroup
	for i, tool := range one.move.calls {
		calls.Go(func() { one.results[i] = call(ctx, turn, tool, question) })
	}
	calls.Wait()
	return one, nil
}

// call hands a tool's answer to the model. A refusal of the guard is an answer like others: were it an error, the model
// would try again.
func call(ctx context.Context, turn *mcpguard.Turn, tool, question string) result {
	answer, err := turn.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: query{Text: question}})
	if err != nil {
		return result{tool: tool, text: err.Error(), failed: true}
	}
	var text strings.Builder
	for _, content := range answer.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			text.WriteString(part.Text)
		}
	}
	return result{tool: tool, text: text.String(), failed: answer.IsError}
}

func offered(turn *mcpguard.Turn) []string {
	names := make([]string, len(turn.Tools()))
	for i, tool := range turn.Tools() {
		names[i] = tool.Name
	}
	return names
}
