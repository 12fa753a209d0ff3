package grpcguard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/seed42274fcc/stoic/integrations/grpcguard"
	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
)

// inside is what a handler finds.
type inside struct {
	underRetry bool
	path       []string
	left       time.Duration
	key        string
	after      context.Context
}

func look(ctx context.Context) inside {
	in := inside{underRetry: nesting.UnderRetry(ctx), path: nesting.Path(ctx), after: context.WithoutCancel(ctx)}
	if deadline, ok := ctx.Deadline(); ok {
		in.left = time.Until(deadline)
	}
	in.key = strings.Join(metadata.ValueFromIncomingContext(ctx, "resilience-scope"), "|")
	return in
}

// through makes a unary call and a stream, which find the same.
func through(t *testing.T, ctx context.Context, guard *resilient.Guard, trusted func(context.Context, string) bool, options grpcguard.Options) (in inside) {
	t.Helper()
	s := &orders{
		unary:  func(ctx context.Context, _ string, _ int) (string, error) { in = look(ctx); return "", nil },
		stream: func(stream grpc.ServerStream) error { in = look(stream.Context()); return nil },
	}
	conn := dial(t, serve(t, s, grpcguard.ServerOptions(trusted)...), guard, options)
	if guard == nil { // the stream's opening is not repeated, so it says nothing by itself
		stream := openStream(t, ctx, conn)
		require.ErrorIs(t, stream.RecvMsg(new(wrapperspb.StringValue)), io.EOF)
		streamed := in
		_, err := call(ctx, conn, get)
		require.NoError(t, err)
		assert.Equal(t, streamed.path, in.path)
		assert.Equal(t, streamed.key, in.key)
		return in
	}
	_, err := call(ctx, conn, get)
	require.NoError(t, err)
	return in
}

func TestTheScopeCrosses(t *testing.T) {
	guard := newGuard(t, policy(func(p *resilient.Policy) { p.TotalTimeout = time.Minute }), resilient.Options{})
	in := through(t, t.Context(), guard, grpcguard.Anyone, grpcguard.Options{})
	assert.True(t, in.underRetry)
	assert.Equal(t, []string{"orders.Get"}, in.path)
	assert.Equal(t, "depth=1;path=orders.Get", in.key)
	assert.Greater(t, in.left, 30*time.Second, "the deadline is gRPC's own")
	assert.LessOrEqual(t, in.left, time.Minute)
	assert.False(t, nesting.UnderRetry(in.after), "what it has started and goes on retries by itself")

	external := grpcguard.Options{External: func(string) bool { return true }}
	assert.Empty(t, through(t, t.Context(), guard, grpcguard.Anyone, external).path)
	once := newGuard(t, policy(func(p *resilient.Policy) { p.Retry.MaxAttempts = 1 }), resilient.Options{})
	assert.Empty(t, through(t, t.Context(), once, grpcguard.Anyone, grpcguard.Options{}).path)
	own := metadata.AppendToOutgoingContext(t.Context(), "resilience-scope", "depth=9", "x", "y")
	assert.Empty(t, through(t, own, once, grpcguard.Anyone, grpcguard.Options{}).path, "what a proxy has copied is not ours")
	assert.Equal(t, []string{"orders.Get"}, through(t, own, guard, grpcguard.Anyone, grpcguard.Options{}).path)
}

func TestTheServerDropsWhatItDoesNotTrust(t *testing.T) {
	with := func(values ...string) context.Context {
		ctx := t.Context()
		for _, value := range values {
			ctx = metadata.AppendToOutgoingContext(ctx, "resilience-scope", value)
		}
		return ctx
	}
	good := "depth=2;left=1;path=a/b"
	in := through(t, with(good), nil, grpcguard.Anyone, grpcguard.Options{})
	assert.Equal(t, []string{"a", "b"}, in.path)
	assert.Zero(t, in.left, "what it says of time is not gRPC's")

	notThis := func(_ context.Context, method string) bool { return method == add }
	for name, in := range map[string]inside{
		"nobody is trusted": through(t, with(good), nil, nil, grpcguard.Options{}),
		"not this one":      through(t, with(good), nil, notThis, grpcguard.Options{}),
		"not in its form":   through(t, with("depth=0"), nil, grpcguard.Anyone, grpcguard.Options{}),
		"two of them":       through(t, with(good, good), nil, grpcguard.Anyone, grpcguard.Options{}),
		"none":              through(t, with(), nil, grpcguard.Anyone, grpcguard.Options{}),
	} {
		assert.False(t, in.underRetry, name)
		assert.Empty(t, in.path, name)
		assert.Empty(t, in.key, name)
	}
	secret := through(t, with("depth=1;path=password%3Dhunter2"), nil, grpcguard.Anyone, grpcguard.Options{})
	require.Len(t, secret.path, 1)
	assert.NotContains(t, secret.path[0], "hunter2")
}

// A63: a guarded client under a guarded call tries once, and its hint and its status reach the one that repeats.
func TestA63AClientUnderAGuardedCallTriesOnce(t *testing.T) {
	s := &orders{unary: failing(always, unavailable)}
	guard := newGuard(t, policy(), resilient.Options{})
	conn := dial(t, serve(t, s), guard, grpcguard.Options{})
	above, err := resilient.NewGuard("plans", policy(), &resilient.Options{Logger: slog.New(slog.DiscardHandler), Classify: grpcguard.Classify})
	require.NoError(t, err)
	err = resilient.Do(t.Context(), above, resilient.Idempotent("get"), func(ctx context.Context) error {
		_, err := call(ctx, conn, get)
		return err
	})
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, "plans", exhausted.Service)
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.EqualValues(t, 3, s.calls.Load(), "not 9")
}

// What makes the test binary a process of the chain: the server that it calls, and whom it trusts.
const (
	chainNext  = "STOIC_CHAIN_NEXT"
	chainTrust = "STOIC_CHAIN_TRUST"
)

// serveChain is one service of a chain: it answers what the next one answers, which it calls up to three times. It ends
// with its standard input.
func serveChain() int {
	guard, err := resilient.NewGuard("next", policy(), &resilient.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fail(err)
	}
	client, err := grpcguard.NewClient(&grpcguard.Options{Guards: grpcguard.One(guard)})
	if err != nil {
		return fail(err)
	}
	conn, err := grpc.NewClient(os.Getenv(chainNext),
		append(client.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return fail(err)
	}
	var trusted func(context.Context, string) bool
	if os.Getenv(chainTrust) != "" {
		trusted = grpcguard.Anyone
	}
	server := grpc.NewServer(grpcguard.ServerOptions(trusted)...)
	server.RegisterService(serviceDesc(), &orders{unary: func(ctx context.Context, _ string, _ int) (string, error) {
		text, err := call(ctx, conn, get)
		return text, status.Convert(err).Err() // its code, in this service's name
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fail(err)
	}
	fmt.Println(listener.Addr())
	go func() { fmt.Fprintln(os.Stderr, server.Serve(listener)) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// startChain starts a process of the chain and returns its address.
func startChain(t *testing.T, next, trust string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), chainNext+"="+next, chainTrust+"="+trust)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = input.Close() // which ends it
		assert.NoError(t, cmd.Wait())
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

// A61, P126: three services in three processes, each with three attempts, and what the last one calls fails.
func TestA61P126RetriesDoNotMultiplyAcrossProcesses(t *testing.T) {
	for name, test := range map[string]struct {
		trust string
		calls int64
	}{"with the key": {"yes", 3}, "without it": {"", 27}} {
		t.Run(name, func(t *testing.T) {
			bottom := &orders{unary: failing(always, unavailable)}
			address := serve(t, bottom)
			for range 3 {
				address = startChain(t, address, test.trust)
			}
			_, err := call(t.Context(), dial(t, address, nil, grpcguard.Options{}), get)
			assert.Equal(t, codes.Unavailable, status.Code(err))
			assert.Equal(t, test.calls, bottom.calls.Load())
		})
	}
}
