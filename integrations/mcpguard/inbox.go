package mcpguard

import (
	"context"
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
	silent        bool                       // the server has said that it tells of no changes
	subscriptions map[*mcp.ServerSession]any // the id of the request that asked for it
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
func (i *inbox) acknowledged(method string, req mcp.Request) {
	if method != notificationAcked {
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
		i.subscriptions = map[*mcp.ServerSession]any{}
	}
	i.subscriptions[session] = params.Meta[mcp.MetaKeySubscriptionID]
}

func (i *inbox) unsubscribed(s mcp.Session) {
	session, ok := s.(*mcp.ServerSession)
	if !ok {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.subscriptions, session)
}

// letter is what a session is told, nil if it cannot be.
func (i *inbox) letter(session *mcp.ServerSession) (params *mcp.ToolListChangedParams, send mcp.MethodHandler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if id, ok := i.subscriptions[session]; ok {
		return &mcp.ToolListChangedParams{Meta: mcp.Meta{mcp.MetaKeySubscriptionID: id}}, i.next
	}
	hello := session.InitializeParams()
	if i.silent || hello == nil || hello.ProtocolVersion >= firstWithSubscriptions {
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
