package mcpguard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	notificationListChanged = "notifications/tools/list_changed"
	notificationAcked       = "notifications/subscriptions/acknowledged"
	// firstWithSubscriptions is the protocol's first version that tells of changes only
	// those who have asked for it.
	firstWithSubscriptions = "2026-07-28"
	sendingLimit           = 10 * time.Second
)

// inbox knows how the sessions of a server are told that the list has changed. The SDK
// has no method for it: it tells only of what is registered and removed.
type inbox struct {
	mu            sync.Mutex // never held while something is sent
	next          mcp.MethodHandler
	silent        bool // the server has said that it tells of no changes
	subscriptions map[*mcp.ServerSession][]*subscription
}

// subscription is one that a session has asked for. It may be to anything, and is one to
// the list only where it is among those of the inbox.
type subscription struct{ id any } // of the request that asked for it

type subscriptionKey struct{}

// withSubscription returns a context for the request: the answer to it is sent with that.
func withSubscription(ctx context.Context, own *subscription) context.Context {
	return context.WithValue(ctx, subscriptionKey{}, own)
}

func (i *inbox) send(next mcp.MethodHandler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.next = next
}

// initialized takes note of what the server promises to its clients.
func (i *inbox) initialized(result mcp.Result) {
	r, ok := result.(*mcp.InitializeResult)
	if !ok || r == nil || r.Capabilities == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.silent = r.Capabilities.Tools == nil || !r.Capabilities.Tools.ListChanged
}

// acknowledged takes note of a subscription: the server's answer to it has its id, and
// what of it was granted.
func (i *inbox) acknowledged(ctx context.Context, method string, req mcp.Request) {
	own, asked := ctx.Value(subscriptionKey{}).(*subscription)
	if method != notificationAcked || !asked {
		return
	}
	params, ok := req.GetParams().(*mcp.SubscriptionsAcknowledgedParams)
	session, isServers := req.GetSession().(*mcp.ServerSession)
	if !ok || !isServers || !params.Notifications.ToolsListChanged {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.subscriptions == nil {
		i.subscriptions = map[*mcp.ServerSession][]*subscription{}
	}
	own.id = params.Meta[mcp.MetaKeySubscriptionID]
	i.subscriptions[session] = append(i.subscriptions[session], own)
}

// unsubscribed forgets that subscription; a session may have others.
func (i *inbox) unsubscribed(s mcp.Session, own *subscription) {
	session, ok := s.(*mcp.ServerSession)
	if !ok {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	left := slices.DeleteFunc(i.subscriptions[session], func(one *subscription) bool { return one == own })
	if len(left) == 0 {
		delete(i.subscriptions, session)
		return
	}
	i.subscriptions[session] = left
}

// letter is what a session is told, nil if it cannot be.
func (i *inbox) letter(session *mcp.ServerSession) (params *mcp.ToolListChangedParams, send mcp.MethodHandler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if all := i.subscriptions[session]; len(all) > 0 {
		return &mcp.ToolListChangedParams{Meta: mcp.Meta{mcp.MetaKeySubscriptionID: all[len(all)-1].id}}, i.next
	}
	hello := session.InitializeParams()
	if i.next == nil || i.silent || hello == nil || hello.ProtocolVersion >= firstWithSubscriptions {
		return nil, nil
	}
	return &mcp.ToolListChangedParams{}, i.next
}

// tell tells each session once. It does not wait: a client that does not read is nobody
// else's concern. One that is gone need not know.
func (s *served) tell() {
	for session := range s.server.Sessions() {
		params, send := s.inbox.letter(session)
		if params == nil {
			continue
		}
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), sendingLimit)
			defer cancel()
			_, _ = send(ctx, notificationListChanged, &mcp.ServerRequest[*mcp.ToolListChangedParams]{Session: session, Params: params})
		}()
	}
}
