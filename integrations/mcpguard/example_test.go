package mcpguard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// search is a tool that is down.
func search(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New("search is down")
}

// library is a server with two tools.
func library() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "calc"}, works)
	mcp.AddTool(server, &mcp.Tool{Name: "search"}, search)
	return server
}

// dialed is a client's session with a server.
func dialed(server *mcp.Server) *mcp.ClientSession {
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), there, nil); err != nil {
		panic(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(context.Background(), here, nil)
	if err != nil {
		panic(err)
	}
	return session
}

var quiet = slog.New(slog.DiscardHandler)

func ExampleGuard_Protect() {
	server := library()
	// region server
	guard, err := mcpguard.New(&toolguard.Options{MonitorAll: true, Logger: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer guard.Close()
	guard.Protect(server)
	// endregion server

	ctx, session := context.Background(), dialed(server)
	defer func() { _ = session.Close() }()
	for range 4 {
		list, _ := session.ListTools(ctx, nil)
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: query{Text: "go"}})
		said := result.Content[0].(*mcp.TextContent).Text
		said, _, _ = strings.Cut(said, " until")
		fmt.Println(len(list.Tools), result.IsError, said, err)
	}

	// Output:
	// 2 true search is down <nil>
	// 2 true search is down <nil>
	// 2 true search is down <nil>
	// 1 false Tool "search" is temporarily unavailable <nil>
}

func ExampleGuard_Client() {
	guard, _ := mcpguard.New(&toolguard.Options{MonitorAll: true, Logger: quiet})
	defer guard.Close()
	plain := dialed(library())
	defer func() { _ = plain.Close() }()
	ctx, session := context.Background(), guard.Client(plain, nil)
	// region client
	for range 4 {
		turn, err := session.Turn(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		chosen := choose(turn.Tools()) // your model
		result, err := turn.CallTool(ctx, &mcp.CallToolParams{Name: chosen, Arguments: query{Text: "go"}})
		if err == nil {
			fmt.Println(len(turn.Tools()), chosen, result.Content[0].(*mcp.TextContent).Text)
		}
		turn.Close()
	}
	// endregion client

	// Output:
	// 2 search search is down
	// 2 search search is down
	// 2 search search is down
	// 1 calc 42
}

// choose is a model that likes the last tool best.
func choose(tools []*mcp.Tool) string { return tools[len(tools)-1].Name }
