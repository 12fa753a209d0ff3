package grpcguard

import (
	"context"
	"reflect"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
)

// Client has the interceptors of a client whose calls are guarded. Make it with
// [NewClient], once, and keep it. It is safe for concurrent use, and has no goroutine.
// The zero value and nil are not usable: their calls fail with [resilient.ErrNilGuard].
type Client struct{ options Options }

// NewClient makes a client's interceptors. It returns an error where the options have no
// guards.
func NewClient(options *Options) (*Client, error) {
	if options == nil || options.Guards == nil {
		return nil, ErrNoGuards
	}
	return &Client{*options}, nil
}

// DialOptions are both interceptors, for grpc.NewClient. What is chained after them runs
// once for each attempt, what is chained before them once for each call.
func (c *Client) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(c.Unary), grpc.WithChainStreamInterceptor(c.Stream)}
}

// Unary makes a guarded call; it is a grpc.UnaryClientInterceptor.
func (c *Client) Unary(
	ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if c == nil || c.options.Guards == nil {
		return resilient.ErrNilGuard
	}
	var answer error // of the server, where it is no failure
	answered := false
	err := resilient.Do(ctx, c.guard(method), c.options.op(method), func(ctx context.Context) error {
		into := reply
		if answered { // the replay mode of tests makes a call that has succeeded again
			into = reflect.New(reflect.TypeOf(reply).Elem()).Interface()
		}
		err := invoker(c.announce(ctx, method), method, req, into, conn, opts...)
		judged := c.options.judge(err)
		if judged == nil && !answered {
			answer, answered = err, true
		}
		return judged
	})
	if err != nil {
		return withStatus(err)
	}
	return answer
}

func (c *Client) guard(method string) *resilient.Guard {
	return c.options.Guards.Guard(c.options.name(method))
}

// scopeKey is [nesting.Header] as metadata has it.
const scopeKey = "resilience-scope"

// announce says to the server which calls this is inside of, and nothing else under that
// key.
func (c *Client) announce(ctx context.Context, method string) context.Context {
	scope := ""
	if c.options.External == nil || !c.options.External(method) {
		wire := nesting.Capture(ctx)
		wire.Left = 0 // the deadline is gRPC's own
		scope = wire.String()
	}
	md, _ := metadata.FromOutgoingContext(ctx) // a copy
	if scope == "" && len(md.Get(scopeKey)) == 0 {
		return ctx
	}
	if md == nil {
		md = metadata.MD{}
	}
	md.Delete(scopeKey)
	if scope != "" {
		md.Set(scopeKey, scope)
	}
	return metadata.NewOutgoingContext(ctx, md)
}
