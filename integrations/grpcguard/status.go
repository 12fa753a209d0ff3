package grpcguard

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed42274fcc/stoic/resilient"
)

// Status is the ready classifier: what a status says about the server.
//
//   - a failure, which is repeated where it may be: Unavailable, DeadlineExceeded (a
//     server that hangs shows itself just so, whoever set the deadline), Internal,
//     Unknown, DataLoss, and ResourceExhausted with a RetryInfo
//   - neutral: Canceled; Unauthenticated and PermissionDenied, since whoever guards the
//     door has answered, and not the house; ResourceExhausted without a RetryInfo, which
//     is as often our own message that is too large, or a quota
//   - an answer: all else, such as NotFound, InvalidArgument, Aborted or Unimplemented
func Status(s *status.Status) resilient.Outcome {
	switch s.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Unknown, codes.DataLoss:
		return resilient.OutcomeFailure
	case codes.Canceled, codes.Unauthenticated, codes.PermissionDenied:
		return resilient.OutcomeNeutral
	case codes.ResourceExhausted:
		if _, ok := RetryAfter(s); ok {
			return resilient.OutcomeFailure
		}
		return resilient.OutcomeNeutral
	}
	if s.Code() > codes.Unauthenticated { // none that gRPC knows
		return resilient.OutcomeFailure
	}
	return resilient.OutcomeSuccess
}

// RetryAfter reads the RetryInfo among a status's details: how long the server asks to
// wait. It is negative, as [resilient.RetryAfter] has it for what nobody can wait, where it
// is negative or out of range. Of several the strictest holds. ok is false where there is
// none.
func RetryAfter(s *status.Status) (after time.Duration, ok bool) {
	for _, detail := range s.Details() {
		info, is := detail.(*errdetails.RetryInfo)
		if !is || info.GetRetryDelay() == nil {
			continue
		}
		wait := info.GetRetryDelay().AsDuration() // saturates
		if wait < 0 || info.GetRetryDelay().CheckValid() != nil {
			wait = nobodyCan
		}
		if !ok || wait < 0 || after >= 0 && wait > after {
			after = wait
		}
		ok = true
	}
	return after, ok
}

// nobodyCan is a wait that ends the call.
const nobodyCan = -time.Nanosecond

// Classify is the ready classifier for [resilient.Options].Classify, for those who make
// guarded calls by hand. It has no opinion on errors without a status.
func Classify(err error) resilient.Outcome {
	if s, ok := statusOf(err); ok {
		return Status(s)
	}
	return resilient.OutcomeUnjudged
}

// statusOf finds the status in an error, with its details, and without the text that
// status.FromError puts round it.
func statusOf(err error) (*status.Status, bool) {
	var has interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &has) || has.GRPCStatus() == nil {
		return nil, false
	}
	return has.GRPCStatus(), true
}

// judge is what an attempt has ended with: nil if the server has answered, be it with an
// error, and an error with the marks that the guard is to know.
func (o *Options) judge(err error) error {
	s, ok := statusOf(err)
	if err == nil || !ok {
		return err
	}
	outcome := resilient.OutcomeUnjudged
	if o.Classify != nil {
		outcome = o.Classify(s)
	}
	if outcome != resilient.OutcomeSuccess && outcome != resilient.OutcomeNeutral && outcome != resilient.OutcomeFailure {
		outcome = Status(s)
	}
	switch outcome {
	case resilient.OutcomeSuccess:
		return nil
	case resilient.OutcomeNeutral:
		return &stated{resilient.Neutral(err), s}
	}
	if after, ok := RetryAfter(s); ok {
		return &stated{resilient.RetryAfter(err, after), s}
	}
	return err
}

// stated is an error with the status that callers of gRPC find in it: with a mark on it,
// the very one of the server; of a guard's own error, the one that fits.
type stated struct {
	error
	status *status.Status
}

func (s *stated) Unwrap() error              { return s.error }
func (s *stated) GRPCStatus() *status.Status { return s.status }

// withStatus gives an error the status that it has none of, or, of a refusal, a wrong
// one: that of the failure which opened the circuit.
func withStatus(err error) error {
	if err == nil {
		return nil
	}
	if marks := resilient.MarksOf(err); marks.Refused && !marks.Exhausted {
		return &stated{err, status.New(codes.Unavailable, err.Error())}
	}
	if _, ok := statusOf(err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &stated{err, status.New(codes.Canceled, err.Error())}
	case errors.Is(err, context.DeadlineExceeded):
		return &stated{err, status.New(codes.DeadlineExceeded, err.Error())}
	}
	return err
}
