package breaker

import "sync"

// queue is what others are to be told: in order, one thing at a time, with no lock held,
// on the goroutine of somebody who has added to it. Its owner's mutex guards it.
type queue[T any] struct {
	waiting []T
	telling bool // a goroutine is at it
}

func (q *queue[T]) add(next T) { q.waiting = append(q.waiting, next) }

// deliver tells what is waiting, unless another goroutine is at it: that one will find
// it. So who adds more while being told does not recurse. The mutex is not held.
func (q *queue[T]) deliver(mu *sync.Mutex, tell func(T)) {
	for {
		mu.Lock()
		if q.telling || len(q.waiting) == 0 {
			mu.Unlock()
			return
		}
		next := q.waiting[0]
		if q.waiting = q.waiting[1:]; len(q.waiting) == 0 {
			q.waiting = nil // else the array would grow at one end and leak at the other
		}
		q.telling = true
		mu.Unlock()
		q.one(mu, next, tell)
	}
}

// one tells one thing. A panic or a runtime.Goexit in that ends the goroutine, as it
// must, but not the delivery of the rest.
func (q *queue[T]) one(mu *sync.Mutex, next T, tell func(T)) {
	returned := false
	defer func() {
		mu.Lock()
		q.telling = false
		mu.Unlock()
		if !returned {
			q.deliver(mu, tell)
		}
	}()
	tell(next)
	returned = true
}
