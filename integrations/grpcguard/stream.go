package grpcguard

import (
	"context"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/seed42274fcc/stoic/resilient"
)

// Stream opens a stream under a permit of the guard's; it is a
// grpc.StreamClientInterceptor.
func (c *Client) Stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if c == nil || c.options.Guards == nil {
		return nil, resilient.ErrNilGuard
	}
	permit, err := c.guard(method).Acquire(ctx)
	if err != nil {
		return nil, withStatus(err)
	}
	stream, err := streamer(c.announce(ctx, method), desc, conn, method, opts...)
	if err != nil {
		permit.Settle(c.options.judge(err))
		return nil, err
	}
	s := &clientStream{ClientStream: stream, permit: permit, options: &c.options}
	// Who lets go of a stream ends its context: that is how gRPC has it.
	stop := context.AfterFunc(ctx, func() { s.settle(context.Cause(ctx)) })
	s.stop.Store(&stop)
	return s, nil
}

// clientStream settles its permit with the first that is heard of the server.
type clientStream struct {
	grpc.ClientStream
	permit  *resilient.Permit
	options *Options
	settled atomic.Bool
	stop    atomic.Pointer[func() bool]
}

// settle counts once.
func (s *clientStream) settle(err error) {
	if s.settled.Swap(true) {
		return
	}
	s.permit.Settle(s.options.judge(err))
	if stop := s.stop.Load(); stop != nil {
		(*stop)()
	}
}

// RecvMsg receives a message, as it does in every stream.
func (s *clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	switch {
	case s.settled.Load():
	case err == io.EOF:
		s.settle(nil)
	default:
		s.settle(err)
	}
	return err
}

// Header waits for the header, as it does in every stream.
func (s *clientStream) Header() (metadata.MD, error) {
	md, err := s.ClientStream.Header()
	if md != nil && err == nil { // without one, RecvMsg has the reason
		s.settle(nil)
	}
	return md, err
}
