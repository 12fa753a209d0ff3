package breaker

import (
	"context"
	"reflect"
	"time"
)

// Request asks one circuit for a permit: see [AcquireAll].
type Request struct {
	Circuit *Circuit
	// Limit is how long the attempt may take, as in [Circuit.Acquire].
	Limit time.Duration
}

// Grant is what came of a request: a permit to settle, or a rejection.
type Grant struct {
	Permit   Permit
	Rejected *RejectedError // nil if there is a permit
}

// AcquireAll asks several circuits for a permit each, as [Circuit.Acquire] does, in the
// order of the requests. Those that share one store cost one round trip together, at
// most, if it is a [BatchStore]; none if nothing has to be asked. A circuit about which
// more than one question would have to be asked goes by the first answer: it may reject
// where Acquire would have gone on. The same circuit may be asked more than once.
func AcquireAll(requests []Request) []Grant {
	grants := make([]Grant, len(requests))
	var all []*question
	finished := false
	defer func() {
		if !finished { // a listener or a store has ended the goroutine: nobody gets a permit
			giveBack(requests, grants, all)
		}
	}()
	for i, r := range requests {
		c := r.Circuit
		if v := c.view.Load(); c.Now() < v.until && v.admits {
			grants[i].Permit = Permit{round: v.round}
			continue
		}
		if q := c.question(r.Limit); q != nil {
			q.grant = &grants[i]
			all = append(all, q)
			continue
		}
		grants[i].Permit, grants[i].Rejected = c.Acquire(c.Now(), r.Limit)
	}
	putEach(all)
	finished = true
	return grants
}

// putEach asks each store once.
func putEach(open []*question) {
	for len(open) > 0 {
		store, same := open[0].circuit.fleet.store, open[:1:1]
		rest := open[:0:0]
		for _, q := range open[1:] {
			if sameStore(q.circuit.fleet.store, store) {
				same = append(same, q)
			} else {
				rest = append(rest, q)
			}
		}
		putAll(store, same)
		open = rest
	}
}

// sameStore compares two, of whatever kind: what cannot be compared is not the same.
func sameStore(a, b Store) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}

// giveBack ends what has been begun: questions that nobody answers any more, and then
// permits that nobody has. Each is a step by itself, as a listener can end that one too.
func giveBack(requests []Request, grants []Grant, asked []*question) {
	switch {
	case len(asked) > 0:
		defer giveBack(requests, grants, asked[1:])
		if !asked[0].done {
			asked[0].answered()
		}
	case len(grants) > 0:
		defer giveBack(requests[1:], grants[1:], nil)
		if grants[0].Permit.token != 0 {
			requests[0].Circuit.Settle(grants[0].Permit, Neutral, nil)
		}
	}
}

// question is what a circuit is waiting to hear from its store: an answer, or that it has
// been told.
type question struct {
	circuit *Circuit
	limit   time.Duration
	command Command
	sent    uint64
	at      time.Duration
	grant   *Grant
	reply   *BatchReply // nil if it was never asked
	done    bool
}

// question finds the one question that a permit depends on. It returns nil if there is
// none, or if Acquire has to see to it.
func (c *Circuit) question(limit time.Duration) *question {
	if c.fleet == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.fleet
	probe := c.sharedMode() && c.probeDue(limit)
	stale := c.Now() >= c.current() || c.lapsed()
	if f.mode == Alone || f.asking || f.garbled || (!probe && !stale) {
		return nil
	}
	q := &question{circuit: c, limit: limit, sent: f.version, at: c.Now(), command: Command{Kind: Read}}
	if probe {
		q.command = Command{Kind: Acquire, ID: newID(), Lease: c.settings.leaseFor(limit)}
	} else {
		f.patient = addTime(q.at, f.terms.Timeout)
	}
	q.command.Settings = c.settings
	f.asking = true
	c.publish(q.at)
	return q
}

// putAll asks one store, and tells the circuits what it has said.
func putAll(store Store, questions []*question) {
	commands := make([]BatchCommand, len(questions))
	for i, q := range questions {
		commands[i] = BatchCommand{Circuit: q.circuit.name, Command: q.command}
	}
	replies := make([]BatchReply, len(questions))
	for i := range replies {
		replies[i].Err = errNoAnswer
	}
	defer func() {
		for i, q := range questions {
			q.reply = &replies[i]
		}
		for _, q := range questions {
			q.answered()
		}
	}()
	copy(replies, doAll(store, commands, questions[0].circuit))
}

// doAll sends them together if the store can, else one by one.
func doAll(store Store, commands []BatchCommand, asker *Circuit) (replies []BatchReply) {
	timeout := asker.fleet.terms.Timeout
	together, ok := store.(BatchStore)
	if !ok {
		for _, c := range commands {
			answer, err := asker.doFor(c.Circuit, timeout, c.Command)
			replies = append(replies, BatchReply{Answer: answer, Err: err})
		}
		return replies
	}
	defer func() {
		if value := recover(); value != nil {
			asker.report(value)
			replies = nil
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return together.DoAll(ctx, commands)
}

// answered takes over what the store has said, and decides.
func (q *question) answered() {
	c, f := q.circuit, q.circuit.fleet
	c.mu.Lock()
	q.done = true
	if q.command.Kind == Settle {
		q.released()
		return
	}
	f.asking, f.patient = false, 0
	if q.reply == nil {
		c.publish(c.Now())
		c.unlock()
		return
	}
	answer, err := q.reply.Answer, q.reply.Err
	if err == nil {
		err = answer.fault()
	}
	c.hearReply(answer, err, q.sent, q.at)
	c.publish(c.Now())
	switch {
	case err == nil && q.command.Kind == Acquire && answer.Granted:
		q.grant.Permit, q.grant.Rejected = c.granted(answer, q.command.ID)
	case c.sharedMode():
		q.grant.Permit, q.grant.Rejected = c.byTheView(true)
	default:
		q.grant.Permit, q.grant.Rejected = c.acquireLocal(q.limit, true)
	}
}

// BatchStore is a [Store] that carries out several commands in one round trip.
type BatchStore interface {
	Store
	// DoAll is Do for each command: each by itself is one atomic step, all together are
	// not. There are as many replies as commands, in their order.
	DoAll(ctx context.Context, commands []BatchCommand) []BatchReply
}

// BatchCommand is a command for one circuit.
type BatchCommand struct {
	Circuit string
	Command Command
}

// BatchReply is what came of it.
type BatchReply struct {
	Answer Answer
	Err    error
}
