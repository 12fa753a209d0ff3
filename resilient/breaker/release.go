package breaker

// Release is a permit that is given back without an attempt: see [ReleaseAll].
type Release struct {
	Circuit *Circuit
	Permit  Permit
}

// ReleaseAll gives permits back that were not used, as [Circuit.Settle] does with Neutral.
// Those whose circuits share one store cost one round trip together, at most, if it is a
// [BatchStore].
func ReleaseAll(releases []Release) {
	var all []*question
	for _, r := range releases {
		if q := r.Circuit.release(r.Permit); q != nil {
			all = append(all, q)
		} else {
			r.Circuit.Settle(r.Permit, Neutral, nil)
		}
	}
	putEach(all)
}

// release finds what the store has to be told of a permit. It returns nil if that is
// nothing, or if Settle has to see to it.
func (c *Circuit) release(p Permit) *question {
	if c.fleet == nil || !p.Probe() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.fleet
	if f.mode != Shared || p.round != f.seen.Round {
		return nil
	}
	return &question{circuit: c, sent: f.version, at: c.Now(), command: Command{
		Kind: Settle, ID: p.token, Round: p.round, Token: p.token, Outcome: Neutral, Settings: c.settings,
	}}
}

// released takes over what the store has said of a permit. The mutex is held, and given
// back.
func (q *question) released() {
	c, answer, err := q.circuit, q.reply.Answer, q.reply.Err
	if err == nil {
		err = answer.fault()
	}
	c.hearReply(answer, err, q.sent, q.at)
	if err != nil {
		c.settleLocal(Permit{round: q.command.Round, token: q.command.Token}, Neutral, fault{})
		return
	}
	c.unlock()
	if !answer.Counted {
		c.late.Add(1)
	}
}
