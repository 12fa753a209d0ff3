package grpcguard

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/sanitize"
)

// ServerOptions are both interceptors, for grpc.NewServer. See [UnaryServer] for trusted.
func ServerOptions(trusted func(ctx context.Context, method string) bool) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(UnaryServer(trusted)), grpc.ChainStreamInterceptor(StreamServer(trusted)),
	}
}

// UnaryServer returns an interceptor that takes the resilience-scope key in. Where trusted
// says so of a call, by its context and its full method, the handler gets a context inside
// of the caller's running calls: a guarded call in there makes one attempt. From anybody
// else the key is dropped, and so is one that is not in its form.
//
// A nil trusted trusts nobody, which is right where anybody can call: the key keeps the
// server from retrying. [Anyone] is for servers that only one's own services reach.
//
// The scope counts until the handler returns; what it has started and goes on retries by
// itself.
func UnaryServer(trusted func(ctx context.Context, method string) bool) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		ctx, leave := enter(ctx, info.FullMethod, trusted)
		defer leave()
		return handler(ctx, req)
	}
}

// StreamServer is [UnaryServer] for streams.
func StreamServer(trusted func(ctx context.Context, method string) bool) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		ctx, leave := enter(stream.Context(), info.FullMethod, trusted)
		defer leave()
		return handler(srv, &serverStream{stream, ctx})
	}
}

// Anyone trusts every call.
func Anyone(context.Context, string) bool { return true }

type serverStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is the stream's, inside of the caller's calls.
func (s *serverStream) Context() context.Context { return s.ctx }

// enter returns the context for a handler, and leave, for when it has returned.
func enter(ctx context.Context, method string, trusted func(ctx context.Context, method string) bool) (inside context.Context, leave func()) {
	values := metadata.ValueFromIncomingContext(ctx, scopeKey)
	if len(values) == 0 {
		return ctx, func() {}
	}
	var scope nesting.Wire
	if len(values) == 1 && trusted != nil && trusted(ctx, method) {
		scope, _ = nesting.ParseWire(values[0]) // the zero value is no scope
	}
	if scope.Depth == 0 {
		md, _ := metadata.FromIncomingContext(ctx) // a copy
		md.Delete(scopeKey)
		return metadata.NewIncomingContext(ctx, md), func() {}
	}
	for i, name := range scope.Path {
		scope.Path[i] = sanitize.Message(name)
	}
	scope.Left = 0 // the deadline is gRPC's own
	return scope.Enter(ctx)
}
