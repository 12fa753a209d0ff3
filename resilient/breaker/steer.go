package breaker

import (
	"context"
	"fmt"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Steer carries out an operator's order, on all that share the circuit. Without a store
// it acts on this circuit alone. The error says what the order lacks, or why the store
// could not be told; then nothing has changed here, and maybe nothing there.
func (c *Circuit) Steer(ctx context.Context, order Order) error {
	if err := order.Validate(); err != nil {
		return fmt.Errorf("circuit %s: %w", c.name, err)
	}
	order = order.clean()
	c.mu.Lock()
	f := c.fleet
	if f == nil || f.mode == Alone {
		now := c.Now()
		c.ordered(order)
		if f != nil {
			f.own = NoForce // the order is in its place
		}
		if order.Reset {
			c.forget()
		}
		c.advance(c.machine.order(order, now), c.settings, now)
		c.unlock()
		return nil
	}
	sent, at := f.version, c.Now()
	command := Command{Kind: Operate, ID: newID(), Order: order, Settings: c.settings}
	c.mu.Unlock()
	answer, err := f.store.Do(ctx, c.name, command)
	if err == nil {
		err = answer.fault()
	}
	if err != nil {
		return fmt.Errorf("circuit %s: the store was not told: %w", c.name, sanitize.Error(err))
	}
	c.mu.Lock()
	c.adopt(answer, sent == f.version, at)
	c.unlock()
	return nil
}

// clean is the order with secrets taken out of what people have written.
func (o Order) clean() Order {
	o.Author, o.Reason = sanitize.Message(o.Author), sanitize.Message(o.Reason)
	return o
}
