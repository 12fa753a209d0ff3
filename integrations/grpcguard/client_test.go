package grpcguard_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/seed42274fcc/stoic/integrations/grpcguard"
	"github.com/seed42274fcc/stoic/resilient"
)

// The method's own option says what may be repeated.
func TestP133WhatMayBeRepeated(t *testing.T) {
	for method, tries := range map[string]int64{get: 3, put: 3, add: 1} {
		s := &orders{unary: failing(always, unavailable)}
		_, err := call(t.Context(), dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{}), method)
		assert.Equal(t, codes.Unavailable, status.Code(err))
		assert.Equal(t, tries, s.calls.Load(), method)
	}
	s := &orders{unary: failing(2, unavailable)}
	text, err := call(t.Context(), dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{}), get)
	require.NoError(t, err)
	assert.Equal(t, "fine", text)
}

func TestAnExplicitOpDecides(t *testing.T) {
	s := &orders{unary: failing(always, unavailable)}
	conn := dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{
		Op: func(method string) (resilient.Op, bool) {
			switch method {
			case add:
				return resilient.Idempotent("add"), true
			case get:
				return resilient.NonIdempotent("get"), true
			}
			return resilient.Op{}, false
		},
	})
	for method, tries := range map[string]int64{add: 3, get: 1, put: 3} {
		before := s.calls.Load()
		_, err := call(t.Context(), conn, method)
		require.Error(t, err)
		assert.Equal(t, tries, s.calls.Load()-before, method)
	}
	// Where no descriptors are, nothing is known.
	s = &orders{unary: failing(always, unavailable)}
	conn = dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{Files: new(protoregistry.Files)})
	_, err := call(t.Context(), conn, get)
	require.Error(t, err)
	assert.EqualValues(t, 1, s.calls.Load())
}

func TestAGuardPerService(t *testing.T) {
	var names []string
	guard := newGuard(t, policy(), resilient.Options{})
	s := &orders{unary: failing(0, nil)}
	conn := dial(t, serve(t, s), nil, grpcguard.Options{
		Guards: guardsFunc(func(name string) *resilient.Guard { names = append(names, name); return guard }),
		Name: func(method string) string {
			if method == put {
				return "writes"
			}
			return ""
		},
	})
	for _, method := range []string{get, put} {
		_, err := call(t.Context(), conn, method)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"grpcguard.test.Orders", "writes"}, names)
	assert.Equal(t, "unknown", grpcguard.Service("Get"))
}

type guardsFunc func(name string) *resilient.Guard

func (f guardsFunc) Guard(name string) *resilient.Guard { return f(name) }

func TestStatus(t *testing.T) {
	want := map[resilient.Outcome][]codes.Code{
		resilient.OutcomeSuccess: {
			codes.OK, codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.FailedPrecondition, codes.Aborted, codes.OutOfRange,
			codes.Unimplemented,
		},
		resilient.OutcomeNeutral: {codes.Canceled, codes.Unauthenticated, codes.PermissionDenied, codes.ResourceExhausted},
		resilient.OutcomeFailure: {codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Unknown, codes.DataLoss, 99},
	}
	for outcome, all := range want {
		for _, code := range all {
			assert.Equal(t, outcome, grpcguard.Status(status.New(code, "")), code)
		}
	}
	assert.Equal(t, resilient.OutcomeFailure, grpcguard.Status(later(t, codes.ResourceExhausted, durationpb.New(0))))

	assert.Equal(t, resilient.OutcomeSuccess, grpcguard.Classify(status.Error(codes.NotFound, "")))
	assert.Equal(t, resilient.OutcomeUnjudged, grpcguard.Classify(errors.New("no status")))
	assert.Equal(t, resilient.OutcomeUnjudged, grpcguard.Classify(nil))
}

// later is a status that says when to come again.
func later(t *testing.T, code codes.Code, delays ...*durationpb.Duration) *status.Status {
	t.Helper()
	s := status.New(code, "busy")
	for _, delay := range delays {
		var err error
		s, err = s.WithDetails(&errdetails.RetryInfo{RetryDelay: delay})
		require.NoError(t, err)
	}
	return s
}

// An answer is handed on as it is, and the circuit takes it for a success.
func TestWhatAStatusMeansForTheCircuit(t *testing.T) {
	var next error
	s := &orders{unary: func(context.Context, string, int) (string, error) { return "", next }}
	guard := newGuard(t, policy(func(p *resilient.Policy) { p.Retry.MaxAttempts = 2 }), resilient.Options{})
	conn := dial(t, serve(t, s), guard, grpcguard.Options{})
	for _, step := range []struct {
		code            codes.Code
		tries, failures int
	}{{codes.Unavailable, 2, 2}, {codes.PermissionDenied, 1, 2}, {codes.NotFound, 1, 0}, {codes.Internal, 2, 2}, {codes.Aborted, 1, 0}} {
		next = status.Error(step.code, "because")
		before := s.calls.Load()
		_, err := call(t.Context(), conn, get)
		assert.Equal(t, step.code, status.Code(err))
		if step.tries == 1 {
			assert.Equal(t, "because", status.Convert(err).Message(), "the very status")
		}
		assert.EqualValues(t, step.tries, s.calls.Load()-before, step)
		assert.Equal(t, step.failures, guard.Circuit().Snapshot().Failures, step)
	}
}

func TestClassifyDecidesBeforeStatus(t *testing.T) {
	var next error
	s := &orders{unary: func(context.Context, string, int) (string, error) { return "", next }}
	conn := dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{Classify: func(s *status.Status) resilient.Outcome {
		switch s.Code() {
		case codes.Aborted:
			return resilient.OutcomeFailure
		case codes.Internal:
			return resilient.OutcomeSuccess
		}
		return resilient.OutcomeUnjudged
	}})
	for code, tries := range map[codes.Code]int64{codes.Aborted: 3, codes.Internal: 1, codes.Unavailable: 3} {
		next = status.Error(code, "")
		before := s.calls.Load()
		_, err := call(t.Context(), conn, get)
		assert.Equal(t, code, status.Code(err))
		assert.Equal(t, tries, s.calls.Load()-before, code)
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name   string
		delays []*durationpb.Duration
		after  time.Duration
		none   bool
	}{
		{name: "none", none: true},
		{name: "without a delay", delays: []*durationpb.Duration{nil}, none: true},
		{name: "a delay", delays: []*durationpb.Duration{durationpb.New(3 * time.Second)}, after: 3 * time.Second},
		{name: "zero", delays: []*durationpb.Duration{{}}, after: 0},
		{name: "the strictest", delays: []*durationpb.Duration{durationpb.New(3), durationpb.New(5), durationpb.New(4)}, after: 5},
		{name: "negative", delays: []*durationpb.Duration{durationpb.New(5), durationpb.New(-1)}, after: -1},
		{name: "P131 far too long", delays: []*durationpb.Duration{{Seconds: math.MaxInt64}}, after: -1},
		{name: "longer than a duration", delays: []*durationpb.Duration{{Seconds: 9223372037}}, after: math.MaxInt64},
		{name: "no duration at all", delays: []*durationpb.Duration{{Seconds: 1, Nanos: -1}}, after: -1},
	}
	for _, test := range tests {
		after, ok := grpcguard.RetryAfter(later(t, codes.Unavailable, test.delays...))
		assert.Equal(t, !test.none, ok, test.name)
		assert.Equal(t, test.after, after, test.name)
	}
}

// A70: what a server asks for is the least wait, and what cannot be waited for ends the call at once.
func TestA70RetryInfoIsAMinimum(t *testing.T) {
	s := &orders{unary: failing(1, later(t, codes.ResourceExhausted, durationpb.New(300*time.Millisecond)).Err())}
	conn := dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{})
	start := time.Now()
	text, err := call(t.Context(), conn, get)
	require.NoError(t, err)
	assert.Equal(t, "fine", text)
	assert.GreaterOrEqual(t, time.Since(start), 300*time.Millisecond)

	s = &orders{unary: failing(1, later(t, codes.Unavailable, durationpb.New(2*time.Minute)).Err())}
	conn = dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{})
	_, err = call(t.Context(), conn, get)
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, resilient.ReasonRetryAfter, exhausted.Reason)
	assert.Equal(t, 2*time.Minute, exhausted.RetryAfter)
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.EqualValues(t, 1, s.calls.Load())
	after, ok := grpcguard.RetryAfter(status.Convert(err))
	assert.True(t, ok, "the details are still there")
	assert.Equal(t, 2*time.Minute, after)

	s = &orders{unary: failing(always, status.Error(codes.ResourceExhausted, "your quota"))}
	guard := newGuard(t, policy(), resilient.Options{})
	_, err = call(t.Context(), dial(t, serve(t, s), guard, grpcguard.Options{}), get)
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	assert.EqualValues(t, 1, s.calls.Load())
	assert.Zero(t, guard.Circuit().Snapshot().Failures)
}

func TestARefusalIsUnavailable(t *testing.T) {
	s := &orders{unary: failing(always, status.Error(codes.Internal, "broken"))}
	guard := newGuard(t, policy(func(p *resilient.Policy) { p.Circuit.FailureThreshold = 2 }), resilient.Options{})
	conn := dial(t, serve(t, s), guard, grpcguard.Options{})
	_, err := call(t.Context(), conn, get)
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, codes.Internal, status.Code(err), "that of the attempt")
	_, err = call(t.Context(), conn, get)
	var rejected *resilient.RejectedError
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.Equal(t, err.Error(), status.Convert(err).Message())
	_, err = conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, watch)
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.EqualValues(t, 2, s.calls.Load())
}

// The deadline of an attempt reaches the server as gRPC's own; a hung server is an outage, a caller who leaves is none.
func TestDeadlinesAndCallersWhoLeave(t *testing.T) {
	ended := make(chan error, 10)
	s := &orders{unary: func(ctx context.Context, _ string, n int) (string, error) {
		if n == 2 {
			return "fine", nil
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}}
	guard := newGuard(t, policy(func(p *resilient.Policy) { p.AttemptTimeout = time.Second }), resilient.Options{})
	conn := dial(t, serve(t, s), guard, grpcguard.Options{})
	text, err := call(t.Context(), conn, get)
	require.NoError(t, err)
	assert.Equal(t, "fine", text)
	require.Error(t, <-ended)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = call(ctx, conn, add)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
	assert.Equal(t, 1, guard.Circuit().Snapshot().Failures)

	guard.Circuit().Reset()
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	_, err = call(gone, conn, get)
	assert.Equal(t, codes.Canceled, status.Code(err))
	assert.Zero(t, guard.Circuit().Snapshot().Failures)

	before := s.calls.Load()
	_, err = call(gone, conn, get)
	assert.Equal(t, codes.Canceled, status.Code(err), "over already")
	require.ErrorIs(t, err, context.Canceled)
	_, err = call(ctx, conn, get)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
	assert.Equal(t, before, s.calls.Load())
}

// The replay mode of tests makes what has succeeded again, and the caller has the first one's answer.
func TestTheReplayModeLeavesTheFirstAnswer(t *testing.T) {
	s := &orders{unary: func(_ context.Context, _ string, n int) (string, error) {
		if n == 1 {
			return "one", nil
		}
		return "", status.Error(codes.NotFound, "gone")
	}}
	outcomes := make(chan resilient.Outcome, 1)
	guard := newGuard(t, policy(), resilient.Options{Replay: func(context.Context, resilient.Call) func(resilient.Outcome, error) {
		return func(outcome resilient.Outcome, _ error) { outcomes <- outcome }
	}})
	text, err := call(t.Context(), dial(t, serve(t, s), guard, grpcguard.Options{}), get)
	require.NoError(t, err)
	assert.Equal(t, "one", text)
	assert.EqualValues(t, 2, s.calls.Load())
	assert.Equal(t, resilient.OutcomeSuccess, <-outcomes)
}

func TestNewClientRefusesWhatHasNoGuards(t *testing.T) {
	_, err := grpcguard.NewClient(nil)
	require.ErrorIs(t, err, grpcguard.ErrNoGuards)
	_, err = grpcguard.NewClient(&grpcguard.Options{})
	require.ErrorIs(t, err, grpcguard.ErrNoGuards)

	var none *grpcguard.Client
	require.ErrorIs(t, none.Unary(t.Context(), get, nil, nil, nil, nil), resilient.ErrNilGuard)
	_, err = none.Stream(t.Context(), nil, nil, watch, nil)
	require.ErrorIs(t, err, resilient.ErrNilGuard)
	conn := dial(t, "127.0.0.1:1", nil, grpcguard.Options{Guards: grpcguard.One(nil)})
	_, err = call(t.Context(), conn, get)
	require.ErrorIs(t, err, resilient.ErrNilGuard)
}

func TestCallsLeaveNothing(t *testing.T) {
	s := &orders{
		unary: func(_ context.Context, _ string, n int) (string, error) {
			if n%5 == 0 {
				return "", unavailable
			}
			return "fine", nil
		},
		stream: func(stream grpc.ServerStream) error {
			_ = stream.SendMsg(wrapperspb.String("one"))
			<-stream.Context().Done()
			return nil
		},
	}
	conn := dial(t, serve(t, s), newGuard(t, policy(), resilient.Options{}), grpcguard.Options{})
	_, err := call(t.Context(), conn, get)
	require.NoError(t, err)
	running := runtime.NumGoroutine()
	for range 200 {
		_, err := call(t.Context(), conn, get)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, watch)
		require.NoError(t, err)
		require.NoError(t, stream.SendMsg(wrapperspb.String("")))
		require.NoError(t, stream.RecvMsg(new(wrapperspb.StringValue)))
		cancel()
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > running; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			require.LessOrEqual(t, runtime.NumGoroutine(), running, "goroutines are left")
		}
	}
}
