package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/sanitize"
)

// subscription is one connection on which news come. It has a goroutine of its own until
// it is ended.
type subscription struct {
	connection *redis.PubSub
	cancel     context.CancelFunc
	messages   chan string   // closed when no more can come
	ended      chan struct{} // closed when the goroutine has ended
	patience   time.Duration
	signs      atomic.Uint64 // counts what has come: messages and pongs
	err        error         // why messages is closed
}

// backlog is how many messages may wait while Run reads.
const backlog = 256

// subscribe returns once Redis has confirmed the subscription: all that is published from
// then on will come.
func (s *Store) subscribe(ctx context.Context) (*subscription, error) {
	patience := max(dialTime, s.options.MaxViewAge, s.options.Timeout)
	connecting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	connection := s.client.Subscribe(ctx)
	err := connection.Subscribe(connecting, s.channel)
	if err == nil {
		err = confirmed(connection.ReceiveTimeout(connecting, patience))
	}
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("redisstore: subscribing to %s: %w", s.channel, sanitize.Error(err))
	}
	ctx, cancel := context.WithCancel(ctx)
	sub := &subscription{
		connection: connection, cancel: cancel, patience: 2*s.options.MaxViewAge + s.options.Timeout,
		messages: make(chan string, backlog), ended: make(chan struct{}),
	}
	go sub.listen(ctx)
	return sub, nil
}

func confirmed(item any, err error) error {
	if _, ok := item.(*redis.Subscription); err == nil && !ok {
		return fmt.Errorf("the first thing that came was a %T", item)
	}
	return err
}

// listen hands on what comes, until the first error: then the client would make a new
// connection and tell nobody that news were missed.
func (sub *subscription) listen(ctx context.Context) {
	defer close(sub.ended)
	defer close(sub.messages)
	for {
		item, err := sub.receive(ctx)
		if err != nil {
			sub.err = err
			return
		}
		sub.signs.Add(1)
		message, ok := item.(*redis.Message)
		if !ok {
			continue
		}
		select {
		case sub.messages <- message.Payload:
		case <-ctx.Done():
			sub.err = ctx.Err()
			return
		}
	}
}

// receive waits for one thing. Its context bounds what the client does after an error.
// The client panics on some of what only a server that is none would send.
func (sub *subscription) receive(ctx context.Context) (item any, err error) {
	defer func() {
		if value := recover(); value != nil {
			item, err = nil, fmt.Errorf("what came makes no sense to the client: %v", value)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, sub.patience)
	defer cancel()
	return sub.connection.ReceiveTimeout(ctx, sub.patience)
}

// ping asks for a sign of life.
func (sub *subscription) ping(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return sub.connection.Ping(ctx)
}

// end closes the connection and waits until the goroutine is gone.
func (sub *subscription) end() {
	sub.cancel()
	_ = sub.connection.Close()
	<-sub.ended
}

var errSilent = errors.New("no pong has come on the connection for news")
