// Package servers starts what the tests break: Redis servers, clusters of them, and the
// network before them.
package servers

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a server of the test's own. Its methods fail the test that started it if they
// cannot do what they say.
type Redis struct {
	// Address is where it listens, host:port; it keeps it when it is started again.
	Address string

	t       testing.TB
	dir     string
	args    []string
	mu      sync.Mutex // guards process
	process *exec.Cmd
}

// Start starts a server that keeps nothing on disk, unless the arguments say otherwise,
// and ends with the test. It waits until the server answers.
func Start(t testing.TB, args ...string) *Redis {
	t.Helper()
	r := Launch(t, args...)
	r.Await()
	return r
}

// Launch is Start without the wait.
func Launch(t testing.TB, args ...string) *Redis {
	t.Helper()
	Need(t)
	r := &Redis{Address: free(t), t: t, dir: t.TempDir(), args: args}
	t.Cleanup(r.Kill)
	r.launch()
	return r
}

// launch starts the process. The port was free a moment ago, but another test may have
// taken it: then the server exits, and Await says so.
func (r *Redis) launch() {
	r.t.Helper()
	_, port, err := net.SplitHostPort(r.Address)
	if err != nil {
		r.t.Fatal(err)
	}
	args := []string{
		"--port", port, "--bind", "127.0.0.1", "--dir", r.dir, "--save", "", "--appendonly", "no",
		"--logfile", "redis.log", "--repl-diskless-sync-delay", "0",
	}
	process := exec.Command(binary, append(args, r.args...)...)
	if err := StartBound(process); err != nil {
		r.t.Fatalf("redis-server does not start: %v", err)
	}
	r.mu.Lock()
	r.process = process
	r.mu.Unlock()
}

// Await waits until the server answers.
func (r *Redis) Await() {
	r.t.Helper()
	client := r.Client()
	defer func() { _ = client.Close() }()
	var err error
	if !Within(10*time.Second, func() bool {
		err = client.Ping(context.Background()).Err()
		return err == nil
	}) {
		r.t.Fatalf("redis-server on %s does not answer: %v", r.Address, err)
	}
}

// Client is a new client of it, which belongs to the caller.
func (r *Redis) Client() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: r.Address, MaxRetries: -1, ContextTimeoutEnabled: true, DialTimeout: time.Second, PoolSize: 2,
	})
}

// Do sends it one command, and fails the test if that goes wrong.
func (r *Redis) Do(args ...any) {
	r.t.Helper()
	client := r.Client()
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := client.Do(ctx, args...).Err(); err != nil {
		r.t.Fatalf("%v: %v", args, err)
	}
}

// URL is the address as redisstore.Open wants it.
func (r *Redis) URL() string { return "redis://" + r.Address }

// Pause stops it in the middle of whatever it does: connections stay open and nothing is
// answered.
func (r *Redis) Pause() { r.signal(syscall.SIGSTOP) }

// Resume lets it go on. What was sent meanwhile is carried out.
func (r *Redis) Resume() { r.signal(syscall.SIGCONT) }

// Kill ends it at once, as a crash does, and waits until it is gone.
func (r *Redis) Kill() {
	r.mu.Lock()
	process := r.process
	r.process = nil
	r.mu.Unlock()
	if process != nil {
		_ = process.Process.Kill()
		_ = process.Wait() // "signal: killed", as was wanted
	}
}

// Restart starts it again after a Kill, at the same address, and waits until it answers.
// Without --appendonly yes it has forgotten everything.
func (r *Redis) Restart() {
	r.t.Helper()
	r.launch()
	r.Await()
}

func (r *Redis) signal(s syscall.Signal) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		r.t.Fatal("the server does not run")
	}
	if err := r.process.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// Follow makes it a replica of what listens at the address, and waits until it has all
// of it.
func (r *Redis) Follow(address string) {
	r.t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Do("REPLICAOF", host, port)
	client := r.Client()
	defer func() { _ = client.Close() }()
	if !Within(10*time.Second, func() bool {
		info, err := client.Info(context.Background(), "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	}) {
		r.t.Fatalf("%s does not follow %s", r.Address, address)
	}
}

// Promote makes a replica a master of its own.
func (r *Redis) Promote() { r.t.Helper(); r.Do("REPLICAOF", "NO", "ONE") }

// Replicated waits until one replica has all that was written before.
func (r *Redis) Replicated() { r.t.Helper(); r.Do("WAIT", 1, 5000) }

// Within reports whether the condition comes true in that time.
func Within(limit time.Duration, condition func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(2 * time.Millisecond) {
		if condition() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func free(t testing.TB) string {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		_ = listener.Close()
		// A cluster's nodes listen 10 000 higher as well.
		if port := listener.Addr().(*net.TCPAddr).Port; port < 55_000 {
			return address
		}
	}
}

// Cluster is three masters that have the slots between them.
type Cluster struct {
	// Nodes are the servers.
	Nodes []*Redis
}

// StartCluster starts one that ends with the test, and waits until it takes commands.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{}
	for range 3 {
		c.Nodes = append(c.Nodes, Launch(t,
			"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1000"))
	}
	const slots = 16384
	for i, node := range c.Nodes {
		node.Await()
		node.Do("CLUSTER", "ADDSLOTSRANGE", i*slots/3, (i+1)*slots/3-1)
		host, port, err := net.SplitHostPort(c.Nodes[0].Address)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			node.Do("CLUSTER", "MEET", host, port)
		}
	}
	for _, node := range c.Nodes {
		c.await(t, node)
	}
	return c
}

func (c *Cluster) await(t testing.TB, node *Redis) {
	t.Helper()
	client := node.Client()
	defer func() { _ = client.Close() }()
	var info string
	if !Within(20*time.Second, func() bool {
		info = client.ClusterInfo(context.Background()).Val()
		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
	}) {
		t.Fatalf("the cluster is not whole: %s", info)
	}
}

// URL is the address as redisstore.Open wants it.
func (c *Cluster) URL() string {
	return fmt.Sprintf("redis://%s?addr=%s&addr=%s", c.Nodes[0].Address, c.Nodes[1].Address, c.Nodes[2].Address)
}
