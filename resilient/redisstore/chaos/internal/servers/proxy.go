package servers

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is the network before a server: it can be cut, hold back what is sent, delay it,
// and lead to another server.
type Proxy struct {
	// Address is where it listens, host:port.
	Address string

	listener net.Listener
	mu       sync.Mutex // guards what follows
	target   string
	cut      bool
	delay    time.Duration
	mute     bool
	held     map[Which]chan struct{} // open while that kind is held
	links    map[*link]struct{}
}

// Which are the connections that are meant.
type Which int

const (
	// All of them.
	All Which = iota
	// Subscriptions are those on which something was subscribed to.
	Subscriptions
)

// link is one connection and the one that it leads to.
type link struct {
	client, server net.Conn
	once           sync.Once
	closed         chan struct{}

	mu         sync.Mutex
	subscribed bool
}

// NewProxy starts one that leads to the address and ends with the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		Address: listener.Addr().String(), listener: listener, target: target,
		held: map[Which]chan struct{}{}, links: map[*link]struct{}{},
	}
	go p.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
	})
	return p
}

// URL is the address as redisstore.Open wants it.
func (p *Proxy) URL() string { return "redis://" + p.Address }

// Cut ends all connections, and each new one at once.
func (p *Proxy) Cut() {
	p.mu.Lock()
	p.cut = true
	p.mu.Unlock()
	p.Reset()
}

// Mend ends Cut.
func (p *Proxy) Mend() {
	p.mu.Lock()
	p.cut = false
	p.mu.Unlock()
}

// Reset ends all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.close()
	}
}

// Lead leads new connections to another server, and ends those that there are.
func (p *Proxy) Lead(target string) {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	p.Reset()
}

// Hold lets nothing through, in either direction: connections stay, as when a network
// loses all packets. What was sent arrives after Release.
func (p *Proxy) Hold(which Which) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[which] == nil {
		p.held[which] = make(chan struct{})
	}
}

// Release ends Hold.
func (p *Proxy) Release(which Which) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held := p.held[which]; held != nil {
		close(held)
		delete(p.held, which)
	}
}

// Delay holds each piece of data back for that long.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// LoseReplies lets through what is sent to the server, and ends the connection in place
// of its answer.
func (p *Proxy) LoseReplies(lose bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = lose
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	target, cut := p.target, p.cut
	p.mu.Unlock()
	if cut {
		_ = client.Close()
		return
	}
	server, err := net.DialTimeout("tcp", target, time.Second)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server, closed: make(chan struct{})}
	p.mu.Lock()
	if p.cut || p.target != target { // meanwhile
		p.mu.Unlock()
		l.close()
		return
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()

	var both sync.WaitGroup
	both.Go(func() { p.carry(l, server, client) })
	both.Go(func() { p.carry(l, client, server) })
	both.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// carry copies one direction until either end has closed.
func (p *Proxy) carry(l *link, to, from net.Conn) {
	defer l.close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if from == l.client && bytes.Contains(bytes.ToLower(buffer[:n]), []byte("subscribe\r\n")) {
			l.mu.Lock()
			l.subscribed = true
			l.mu.Unlock()
		}
		if err != nil || !p.wait(l) || (from == l.server && p.loses()) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) loses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute
}

// wait returns when what was read may go on, and false if there is nowhere to go.
func (p *Proxy) wait(l *link) bool {
	for {
		l.mu.Lock()
		subscribed := l.subscribed
		l.mu.Unlock()
		p.mu.Lock()
		held, delay := p.held[All], p.delay
		if held == nil && subscribed {
			held = p.held[Subscriptions]
		}
		p.mu.Unlock()
		if held == nil {
			return delay == 0 || l.sleep(delay)
		}
		select {
		case <-held:
		case <-l.closed:
			return false
		}
	}
}

func (l *link) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-l.closed:
		return false
	}
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.closed)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}
