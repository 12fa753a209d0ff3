package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools. The one needs the backend, the other nobody.
const (
	search = "search"
	notes  = "notes"
)

// query is what both take.
type query struct {
	Text string `json:"text"`
}

// newToolServer is an MCP server as its authors wrote it: it knows nothing of circuits. (One that is to protect all its
// clients is given a guard of its own, with Protect.)
func newToolServer(client *http.Client, backend string) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: search, Description: "searches the library"},
		func(ctx context.Context, _ *mcp.CallToolRequest, q query) (*mcp.CallToolResult, any, error) {
			text, err := get(ctx, client, backend+"/?q="+url.QueryEscape(q.Text))
			return said(text), nil, err // the SDK makes an error a result with IsError
		})
	mcp.AddTool(server, &mcp.Tool{Name: notes, Description: "looks into what is known from earlier"},
		func(_ context.Context, _ *mcp.CallToolRequest, q query) (*mcp.CallToolResult, any, error) {
			return said(found + "a note about " + q.Text), nil, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func get(ctx context.Context, client *http.Client, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the library answers %s", resp.Status)
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
