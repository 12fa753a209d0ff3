package einoguard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"

	"github.com/seed42274fcc/stoic/integrations/einoguard"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// query is what the tools of the examples take.
type query struct {
	Text string `json:"text" jsonschema:"required"`
}

func inferred(name string, run func(context.Context, query) (string, error)) tool.BaseTool {
	made, err := utils.InferTool(name, "", run)
	if err != nil {
		panic(err)
	}
	return made
}

func ExampleGuard_Protect() {
	ctx := context.Background()
	search := inferred("search", func(context.Context, query) (string, error) { return "", errors.New("search is down") })
	calculate := inferred("calculate", func(context.Context, query) (string, error) { return "42", nil })
	yourModel := turns(4, "search") // it calls search, whatever comes of it
	errorsAsResults := &teller{}    // since eino ends a run at the error of a tool
	tools := compose.ToolsNodeConfig{Tools: []tool.BaseTool{calculate, search}}
	// region agent
	guard, err := einoguard.New(&toolguard.Options{MonitorAll: true, Logger: silent})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer guard.Close()
	config := &adk.ChatModelAgentConfig{
		Name: "agent", Model: yourModel, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: tools},
		Handlers: []adk.ChatModelAgentMiddleware{errorsAsResults},
	}
	guard.Protect(config)
	agent, err := adk.NewChatModelAgent(ctx, config)
	// endregion agent
	if err != nil {
		fmt.Println(err)
		return
	}
	o := collect(adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "look it up"))
	for i, said := range o.results {
		said, _, _ = strings.Cut(said, " until")
		fmt.Println(len(yourModel.offered()[i]), said)
	}

	// Output:
	// 2 failed
	// 2 failed
	// 2 failed
	// 1 Tool "search" is temporarily unavailable
}

func ExampleGuard_ToolMiddleware() {
	ctx := context.Background()
	search := inferred("search", func(context.Context, query) (string, error) { return "found", nil })
	guard, err := einoguard.New(&toolguard.Options{MonitorAll: true, Logger: silent})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer guard.Close()
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{
		Tools:               []tool.BaseTool{search},
		ToolCallMiddlewares: []compose.ToolMiddleware{guard.ToolMiddleware()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	turn := guard.Tools().Turn(ctx, []string{"search"}) // before the request to the model
	defer turn.Close()
	results, err := node.Invoke(turn.Context(ctx), calls("search"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Content)
	// Output: found
}
