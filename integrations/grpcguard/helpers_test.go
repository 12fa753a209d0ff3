package grpcguard_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/seed42274fcc/stoic/integrations/grpcguard"
	"github.com/seed42274fcc/stoic/resilient"
)

// The test binary is also one of the processes of the chain.
func TestMain(m *testing.M) {
	register()
	if os.Getenv(chainNext) != "" {
		os.Exit(serveChain())
	}
	os.Exit(m.Run())
}

// The methods of the service, as generated code would have them.
const (
	get   = "/grpcguard.test.Orders/Get"   // NO_SIDE_EFFECTS
	put   = "/grpcguard.test.Orders/Put"   // IDEMPOTENT
	add   = "/grpcguard.test.Orders/Add"   // nothing is said
	watch = "/grpcguard.test.Orders/Watch" // a stream
)

// register puts the service's descriptor where generated code has its own.
func register() {
	method := func(name string, level descriptorpb.MethodOptions_IdempotencyLevel) *descriptorpb.MethodDescriptorProto {
		m := &descriptorpb.MethodDescriptorProto{
			Name: proto.String(name), InputType: proto.String(".google.protobuf.StringValue"), OutputType: proto.String(".google.protobuf.StringValue"),
		}
		if level != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN {
			m.Options = &descriptorpb.MethodOptions{IdempotencyLevel: level.Enum()}
		}
		return m
	}
	stream := method("Watch", descriptorpb.MethodOptions_NO_SIDE_EFFECTS)
	stream.ServerStreaming = proto.Bool(true)
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("grpcguard_test.proto"), Package: proto.String("grpcguard.test"), Syntax: proto.String("proto3"),
		Dependency: []string{"google/protobuf/wrappers.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: proto.String("Orders"),
			Method: []*descriptorpb.MethodDescriptorProto{
				method("Get", descriptorpb.MethodOptions_NO_SIDE_EFFECTS), method("Put", descriptorpb.MethodOptions_IDEMPOTENT),
				method("Add", descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN), stream,
			},
		}},
	}, protoregistry.GlobalFiles)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		panic(err)
	}
}

// orders is what answers: a function for unary calls, one for streams.
type orders struct {
	calls  atomic.Int64
	unary  func(ctx context.Context, text string, n int) (string, error)
	stream func(stream grpc.ServerStream) error
}

// serviceDesc is what generated code would register.
func serviceDesc() *grpc.ServiceDesc {
	unary := func(name string) grpc.MethodDesc {
		return grpc.MethodDesc{MethodName: name, Handler: func(
			srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor,
		) (any, error) {
			var in wrapperspb.StringValue
			if err := decode(&in); err != nil {
				return nil, err
			}
			handler := func(ctx context.Context, _ any) (any, error) {
				s := srv.(*orders)
				text, err := s.unary(ctx, in.GetValue(), int(s.calls.Add(1)))
				return wrapperspb.String(text), err
			}
			if interceptor == nil {
				return handler(ctx, &in)
			}
			return interceptor(ctx, &in, &grpc.UnaryServerInfo{Server: srv, FullMethod: "/grpcguard.test.Orders/" + name}, handler)
		}}
	}
	return &grpc.ServiceDesc{
		ServiceName: "grpcguard.test.Orders", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{unary("Get"), unary("Put"), unary("Add")},
		Streams: []grpc.StreamDesc{{StreamName: "Watch", ServerStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
			s := srv.(*orders)
			s.calls.Add(1)
			return s.stream(stream)
		}}},
	}
}

// serve starts a server on the loopback and returns its address.
func serve(tb testing.TB, s *orders, options ...grpc.ServerOption) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	server := grpc.NewServer(options...)
	server.RegisterService(serviceDesc(), s)
	go func() { _ = server.Serve(listener) }()
	tb.Cleanup(server.Stop)
	return listener.Addr().String()
}

// dial connects to a server, with a guard unless it is nil.
func dial(tb testing.TB, address string, guard *resilient.Guard, options grpcguard.Options) *grpc.ClientConn {
	tb.Helper()
	dialOptions := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if guard != nil || options.Guards != nil {
		if options.Guards == nil {
			options.Guards = grpcguard.One(guard)
		}
		client, err := grpcguard.NewClient(&options)
		require.NoError(tb, err)
		dialOptions = append(dialOptions, client.DialOptions()...)
	}
	conn, err := grpc.NewClient(address, dialOptions...)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = conn.Close() })
	return conn
}

func call(ctx context.Context, conn *grpc.ClientConn, method string, opts ...grpc.CallOption) (string, error) {
	var out wrapperspb.StringValue
	err := conn.Invoke(ctx, method, wrapperspb.String("o-1"), &out, opts...)
	return out.GetValue(), err
}

// policy has three attempts without delays, and a circuit that never opens by itself.
func policy(edits ...func(*resilient.Policy)) resilient.Policy {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff = resilient.BackoffNone
	p.Retry.BaseDelay = 0
	p.Circuit.FailureThreshold = 1_000_000
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func newGuard(tb testing.TB, p resilient.Policy, options resilient.Options) *resilient.Guard {
	tb.Helper()
	options.Logger = slog.New(slog.DiscardHandler)
	guard, err := resilient.NewGuard("orders", p, &options)
	require.NoError(tb, err)
	return guard
}

// failing answers with an error so many times, and then with "fine".
func failing(times int, err error) func(context.Context, string, int) (string, error) {
	return func(_ context.Context, _ string, n int) (string, error) {
		if n <= times {
			return "", err
		}
		return "fine", nil
	}
}

const always = 1 << 30

var unavailable = status.Error(codes.Unavailable, "down")
