package grpcguard_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/seed42274fcc/stoic/integrations/grpcguard"
	"github.com/seed42274fcc/stoic/resilient"
)

// outcomes are what the attempts of a guard have ended with.
func outcomes(tb testing.TB, p resilient.Policy) (*resilient.Guard, <-chan resilient.Outcome) {
	seen := make(chan resilient.Outcome, 10)
	guard := newGuard(tb, p, resilient.Options{Observers: []resilient.Observer{resilient.ObserverFunc(
		func(_ context.Context, event resilient.Event) {
			if done, ok := event.(resilient.AttemptDone); ok {
				seen <- done.Outcome
			}
		})}})
	return guard, seen
}

func openStream(t *testing.T, ctx context.Context, conn *grpc.ClientConn) grpc.ClientStream {
	t.Helper()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, watch)
	require.NoError(t, err)
	require.NoError(t, stream.SendMsg(wrapperspb.String("")))
	require.NoError(t, stream.CloseSend())
	return stream
}

func TestAStreamIsJudgedByWhatComesFirst(t *testing.T) {
	tests := []struct {
		name   string
		serve  func(stream grpc.ServerStream) error
		header bool
		want   resilient.Outcome
	}{
		{name: "a message, and an error later", want: resilient.OutcomeSuccess, serve: func(stream grpc.ServerStream) error {
			_ = stream.SendMsg(wrapperspb.String("one"))
			return unavailable
		}},
		{name: "the end", want: resilient.OutcomeSuccess, serve: func(grpc.ServerStream) error { return nil }},
		{name: "an error", want: resilient.OutcomeFailure, serve: func(grpc.ServerStream) error { return unavailable }},
		{name: "an answer", want: resilient.OutcomeSuccess, serve: func(grpc.ServerStream) error { return status.Error(codes.NotFound, "") }},
		{name: "a header", header: true, want: resilient.OutcomeSuccess, serve: func(stream grpc.ServerStream) error {
			_ = stream.SendHeader(metadata.Pairs("x", "y"))
			<-stream.Context().Done()
			return unavailable
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			guard, seen := outcomes(t, policy())
			s := &orders{stream: test.serve}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream := openStream(t, ctx, dial(t, serve(t, s), guard, grpcguard.Options{}))
			if test.header {
				_, err := stream.Header()
				require.NoError(t, err)
				assert.Equal(t, test.want, <-seen)
				return
			}
			for err := error(nil); err == nil; {
				err = stream.RecvMsg(new(wrapperspb.StringValue))
			}
			assert.Equal(t, test.want, <-seen)
			assert.Empty(t, seen, "it counts once")
			assert.EqualValues(t, 1, s.calls.Load(), "a stream is opened once")
		})
	}
}

// A stream is not cut by the guard's limits, and a permit is not kept by one that is let go of.
func TestAStreamEndsWithItsOwnContext(t *testing.T) {
	guard, seen := outcomes(t, policy(func(p *resilient.Policy) { p.TotalTimeout, p.AttemptTimeout = 50*time.Millisecond, 20*time.Millisecond }))
	send := make(chan struct{})
	s := &orders{stream: func(stream grpc.ServerStream) error {
		<-send
		_ = stream.SendMsg(wrapperspb.String("late"))
		return nil
	}}
	conn := dial(t, serve(t, s), guard, grpcguard.Options{})
	stream := openStream(t, t.Context(), conn)
	time.Sleep(100 * time.Millisecond) // longer than a call may take
	close(send)
	var text wrapperspb.StringValue
	require.NoError(t, stream.RecvMsg(&text))
	assert.Equal(t, "late", text.GetValue())
	require.ErrorIs(t, stream.RecvMsg(&text), io.EOF)
	assert.Equal(t, resilient.OutcomeSuccess, <-seen)

	s.stream = func(stream grpc.ServerStream) error { <-stream.Context().Done(); return nil }
	gone, leave := context.WithCancel(t.Context())
	openStream(t, gone, conn)
	leave()
	assert.Equal(t, resilient.OutcomeNeutral, <-seen)

	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	openStream(t, late, conn)
	assert.Equal(t, resilient.OutcomeFailure, <-seen, "a server that hangs shows itself just so")
}
