package mcpguard

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var errReported = errors.New("the tool has answered with an error")

// settle ends the permit by what the call came to: by types, never by a text. What the
// protocol does not decide is judged as toolguard.Call judges it.
func (c *call) settle(ctx context.Context, result *mcp.CallToolResult, err error) {
	defer c.permit.End(toolguard.Ignored) // where foreign code that is asked for the schema does not return
	switch {
	case err != nil && decided(err) != undecided:
		c.permit.End(toolguard.Outcome(decided(err)))
	case c.asking.now() && ours(ctx): // somebody was to answer, and has not in time
		c.permit.End(toolguard.Running)
	case err != nil:
		c.permit.EndResult(nil, err)
	case result == nil && c.foreign:
		c.permit.End(toolguard.Ignored)
	case result == nil: // which the SDK answers with an error
		c.permit.End(toolguard.Error)
	case refusedElsewhere(result):
		c.permit.End(toolguard.Ignored)
	case needsInput(result):
		c.permit.End(toolguard.Running)
	case result.IsError:
		c.settleReported(ctx, result)
	default:
		c.permit.EndResult(result, nil)
	}
}

// settleReported ends a call that the tool has answered with an error. In the server that
// is the handler's own, with its marks and its Retry-After, or that it was cancelled.
func (c *call) settleReported(ctx context.Context, result *mcp.CallToolResult) {
	if ctx.Err() == nil && c.misfit() {
		c.permit.End(toolguard.Ignored)
		return
	}
	reported := result.GetError()
	if reported == nil {
		reported = errReported
	}
	if o := decided(reported); o != undecided {
		c.permit.End(toolguard.Outcome(o))
		return
	}
	c.permit.EndResult(result, reported)
}

// needsInput reports whether a call goes on once somebody has answered. In a server the
// SDK marks only what goes to clients that know of it.
func needsInput(result *mcp.CallToolResult) bool {
	return result.NeedsInput() || result.InputRequests != nil
}

// refusedElsewhere reports whether the guard of a server has answered, and not its tool.
func refusedElsewhere(result *mcp.CallToolResult) bool {
	_, is := result.Meta[MetaKeyRefused]
	return is
}

type decision int

const undecided decision = -1

// decided is what the code of a JSON-RPC error says by itself. All others are errors of
// the tool: that of a server that is gone, too.
func decided(err error) decision {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire == nil {
		return undecided
	}
	switch wire.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound:
		return decision(toolguard.Ignored)
	case mcp.CodeURLElicitationRequired:
		return decision(toolguard.Running)
	default:
		return undecided
	}
}
