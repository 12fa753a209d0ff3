package einoguard

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// settle ends the permit by what the call came to: by types, never by a text. What eino
// does not decide is judged as toolguard.Call judges it.
func (c call) settle(ctx context.Context, permit *toolguard.Permit, result any, err error) {
	switch {
	case err == nil:
		permit.EndResult(result, nil)
	case interrupts(err):
		permit.End(toolguard.Running)
	case cancels(err):
		permit.End(toolguard.Interrupted)
	case ctx.Err() == nil && misfit(c.info, c.arguments):
		permit.End(toolguard.Ignored)
	default:
		permit.EndResult(nil, err)
	}
}

// interrupts reports whether a call waits for somebody, and is resumed: eino has this as
// an error, of one kind for a tool and of another for a graph inside of it.
func interrupts(err error) bool {
	if _, ok := compose.IsInterruptRerunError(err); ok {
		return true
	}
	_, ok := compose.ExtractInterruptInfo(err)
	return ok
}

// cancels reports whether the caller has cancelled an agent inside of the tool: eino can
// do so without a context.
func cancels(err error) bool {
	var stream *adk.StreamCanceledError
	var agent *adk.CancelError
	return errors.As(err, &stream) || errors.As(err, &agent)
}
