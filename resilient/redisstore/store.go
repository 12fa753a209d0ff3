package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Store keeps circuits in Redis: a [breaker.Store]. Make it with [Open], [New] or
// [FromEnv], once for each program, and keep it. All methods are safe for concurrent
// use. The zero value and nil are not usable.
type Store struct {
	client   redis.UniversalClient
	owned    bool // the client is closed with the store
	options  Options
	channel  string
	scripts  scripts
	events   *events
	health   *health
	watchers watchers

	rereading time.Duration // shorter in a test
}

var _ breaker.Store = (*Store)(nil)

// New makes a store on a client that is there already, which remains the caller's to
// close: a *redis.Client or a *redis.ClusterClient, the ones with sentinels included.
// A client that ignores the deadline of a context is refused, since a Redis that hangs
// would hold up each call for seconds: set ContextTimeoutEnabled in its options. Its
// retries do no harm, as a repeated command counts once.
func New(client redis.UniversalClient, options *Options) (*Store, error) {
	if err := usable(client); err != nil {
		return nil, err
	}
	full, err := options.complete()
	if err != nil {
		return nil, err
	}
	s := &Store{client: client, options: full, channel: full.Namespace + ":news", rereading: rereading}
	if s.scripts, err = loadScripts(); err != nil {
		return nil, fmt.Errorf("redisstore: the scripts are missing from the program: %w", err)
	}
	s.events = &events{options: &s.options, told: map[Event]time.Time{}}
	if s.health, err = newHealth(s.events.tell); err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	s.watchers.init(s.events)
	return s, nil
}

// usable says why a client is not, or nil.
func usable(client redis.UniversalClient) error {
	if v := reflect.ValueOf(client); !v.IsValid() || (v.Kind() == reflect.Pointer && v.IsNil()) {
		return errors.New("redisstore.New: the client is nil")
	}
	honours, unlimited := false, false
	switch c := client.(type) {
	case interface{ Options() *redis.Options }:
		o := c.Options()
		honours, unlimited = o.ContextTimeoutEnabled, o.ReadTimeout < 0 || o.WriteTimeout < 0
	case interface{ Options() *redis.ClusterOptions }:
		o := c.Options()
		honours, unlimited = o.ContextTimeoutEnabled, o.ReadTimeout < 0 || o.WriteTimeout < 0
	default:
		// A redis.Ring among them: what is published on one of its servers is not heard
		// on the others.
		return fmt.Errorf("redisstore.New: a %T is of no use here: give it a *redis.Client or a *redis.ClusterClient", client)
	}
	if unlimited {
		return errors.New("redisstore.New: the client sets no deadlines on its connections, so that a Redis that hangs would hold up " +
			"each call: leave ReadTimeout and WriteTimeout out of its options, or make them more than -2")
	}
	if !honours {
		return errors.New("redisstore.New: the client ignores deadlines, so that a Redis that hangs would hold up each call: " +
			"set ContextTimeoutEnabled in its options, or use redisstore.Open")
	}
	return nil
}

// Close ends a store that [Open] or [FromEnv] has made, and its connections. One that
// [New] has made has none of its own. End [Store.Run] first. The circuits go on by
// themselves.
func (s *Store) Close() error {
	if !s.owned {
		return nil
	}
	return s.client.Close()
}

// Terms returns what circuits have to know of the store.
func (s *Store) Terms() breaker.Terms {
	return breaker.Terms{Timeout: s.options.Timeout, MaxViewAge: s.options.MaxViewAge, Strict: s.options.Strict}
}

// Watch asks for news of the circuit of that name. They come while [Store.Run] runs,
// until stop is called.
func (s *Store) Watch(circuit string, news func(breaker.News)) (stop func()) {
	one := s.watchers.add(circuit, news)
	return func() { s.watchers.remove(one) }
}

// Do carries out one command. It returns by the time ctx or the store's Timeout is over,
// whichever comes first; a ctx that is cancelled without a deadline is noticed by the
// store's Timeout only if the command has been sent already. The error is or wraps
// [breaker.ErrGarbled], [ErrNewer], [ErrUnavailable] or what the client had to say.
func (s *Store) Do(ctx context.Context, circuit string, command breaker.Command) (breaker.Answer, error) {
	script := s.scripts[command.Kind]
	if script == nil {
		return breaker.Answer{}, fmt.Errorf("redisstore: %d is no kind of a command", command.Kind)
	}
	permit, err := s.health.enter(s.options.Timeout)
	if err != nil {
		return breaker.Answer{}, fmt.Errorf("redisstore: %w", err)
	}
	hurried := false
	if deadline, ok := ctx.Deadline(); ok {
		hurried = time.Until(deadline) < s.options.Timeout*9/10
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	if permit.Probe() {
		// What only reads says nothing of whether Redis takes writes.
		err = s.touch(ctx, circuit)
	}
	var answer breaker.Answer
	if err == nil {
		answer, err = s.understand(script.Run(ctx, s.client, []string{s.key(circuit)}, s.arguments(circuit, command)...))
	}
	s.health.leave(permit, circuit, judge(ctx, err, hurried), err)
	if err != nil {
		s.note(circuit, err)
		return breaker.Answer{}, fmt.Errorf("redisstore: %s of circuit %s: %w", command.Kind, sanitize.Message(circuit), err)
	}
	if answer.Clamped {
		s.events.about(Clamped, circuit, nil)
	}
	return answer, nil
}

// key is where a circuit is kept. What is between the braces puts all that belongs to it
// into one slot of a cluster; Redis wants something to be there.
func (s *Store) key(circuit string) string {
	if circuit == "" || circuit[0] == '}' {
		return s.options.Namespace + "::{-" + circuit + "}" // no other name's: those go on with a brace
	}
	return s.options.Namespace + ":{" + circuit + "}"
}

// touch writes something that is soon gone, beside the circuit.
func (s *Store) touch(ctx context.Context, circuit string) error {
	err := s.client.Set(ctx, s.key(circuit)+":probe", 1, 10*time.Second).Err()
	return sanitize.Error(err)
}

// understand makes an answer of what a script has said.
func (s *Store) understand(reply *redis.Cmd) (breaker.Answer, error) {
	parts, err := reply.StringSlice()
	switch {
	case err == nil:
		return decode(parts)
	case redis.HasErrorPrefix(err, "GARBLED"):
		return breaker.Answer{}, fmt.Errorf("%w: %w", breaker.ErrGarbled, sanitize.Error(err))
	case redis.HasErrorPrefix(err, "NEWER"):
		return breaker.Answer{}, fmt.Errorf("%w: %w", ErrNewer, sanitize.Error(err))
	}
	return breaker.Answer{}, sanitize.Error(err)
}

// ErrNewer says that a circuit was written by a later version of this package.
var ErrNewer = errors.New("the circuit's state was written by a later version of this package")

// judge is what a command's end says about Redis. hurried says that its caller had less
// time for it than it may take.
func judge(ctx context.Context, err error, hurried bool) breaker.Outcome {
	var slow net.Error
	late := ctx.Err() != nil || (errors.As(err, &slow) && slow.Timeout())
	switch {
	case err == nil, errors.Is(err, breaker.ErrGarbled), errors.Is(err, ErrNewer):
		return breaker.Success
	case errors.Is(ctx.Err(), context.Canceled), late && hurried:
		return breaker.Neutral
	default:
		return breaker.Failure
	}
}

// note does what an error calls for.
func (s *Store) note(circuit string, err error) {
	var said redis.Error
	switch {
	case errors.Is(err, breaker.ErrGarbled):
		s.events.about(Garbled, circuit, err)
	case errors.Is(err, ErrNewer):
		s.events.about(Newer, circuit, err)
	case !errors.As(err, &said):
		s.reload()
	}
}

// reload has a cluster's client look where the slots are: by itself it goes on asking a
// node that is gone.
func (s *Store) reload() {
	if c, ok := s.client.(interface{ ReloadState(context.Context) }); ok {
		c.ReloadState(context.Background())
	}
}
