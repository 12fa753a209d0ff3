package lostcontext

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// api has methods with and without a context.
type api struct{ next *api }

func (a *api) Get(id string) error                                    { return nil }
func (a *api) GetContext(ctx context.Context, id string) error        { return nil }
func (a *api) Ping() error                                            { return nil }
func (a *api) PingWithContext(ctx context.Context) error              { return nil }
func (a *api) List(n int) error                                       { return nil }
func (a *api) ListContext(ctx context.Context, n int, all bool) error { return nil }
func (a *api) Name() string                                           { return "" }
func (a *api) NameContext(ctx context.Context) string                 { return "" }
func (a *api) Put(ids ...string) error                                { return nil }
func (a *api) PutContext(ctx context.Context, ids ...string) error    { return a.Put(ids...) }
func (a *api) with(ctx context.Context) *api                          { return a }
func (a *api) inner() *api                                            { return a.next }
func NewSession(id string) (*api, error)                              { return nil, nil }
func NewSessionContext(ctx context.Context, id string) (*api, error)  { return nil, nil }
func load(id string) error                                            { return nil }
func loadContext(ctx context.Context, id string) error                { return nil }

func siblings(ctx context.Context, g *resilient.Guard, op resilient.Op, db *sql.DB, a *api, client *http.Client) {
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		response, err := http.Get("http://localhost") // want `http.Get makes a request without the context that the guarded function is given: the guard's time limits do not reach it`
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		_, _ = http.Head("http://localhost")                           // want `http.Head makes a request without`
		_, _ = http.Post("http://localhost", "text/plain", nil)        // want `http.Post makes a request without`
		_, _ = http.PostForm("http://localhost", url.Values{})         // want `http.PostForm makes a request without`
		_, _ = client.Get("http://localhost")                          // want `client.Get makes a request without`
		_, err := http.DefaultClient.Post("http://localhost", "", nil) // want `http.DefaultClient.Post makes a request without`
		return err
	})
	_ = resilient.Do(ctx, g, op, func(context.Context) error {
		if err := db.Ping(); err != nil { // want `db.Ping works without the context that the guarded function is given`
			return err
		}
		rows, err := db.Query("select 1", 1) // want `db.Query works without`
		if err != nil {
			return err
		}
		return rows.Close()
	})
	_ = resilient.Do(ctx, g, op, func(own context.Context) error {
		tx, err := db.Begin() // want `db.Begin works without`
		if err != nil {
			return err
		}
		var n int
		_ = tx.QueryRow("select 1").Scan(&n) // want `tx.QueryRow works without`
		_, _ = tx.Exec("select 1")           // want `tx.Exec works without`
		_ = a.Get("1")                       // want `a.Get works without`
		_ = a.next.Ping()                    // want `a.next.Ping works without`
		_ = a.Put()                          // want `a.Put works without`
		_ = load("1")                        // want `load works without`
		return tx.Commit()
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		conn, err := net.Dial("tcp", "localhost:1") // want `net.Dial works without`
		if err != nil {
			return err
		}
		_, err = net.LookupHost("localhost") // want `net.LookupHost works without`
		return errors.Join(err, conn.Close())
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		out, err := exec.Command("true").Output() // want `exec.Command makes a command without`
		if err != nil {
			return err
		}
		command := exec.Command("cat", string(out)) // want `exec.Command makes a command without`
		command.Stdin = bytes.NewReader(out)
		return command.Run()
	})
}

func siblingsClean(ctx context.Context, g *resilient.Guard, op resilient.Op, db *sql.DB, a *api) {
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		if err := db.PingContext(ctx); err != nil {
			_ = db.Ping()
			_, _ = http.Get("http://localhost/failed")
			return err
		}
		defer db.Ping()
		go http.Get("http://localhost/begun")
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, _ = tx.Exec("select 1") // ends with the transaction, and that with the context
		_ = a.List(1)
		_ = a.Name()
		_ = a.with(ctx).Get("1")
		own := a.with(ctx)
		_ = own.Get("1")
		_ = a.inner().Get("1") // nobody knows
		session, err := NewSession("1")
		_ = session
		return err
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		deadline, _ := ctx.Deadline()
		client := &http.Client{Timeout: time.Until(deadline)}
		_, err := client.Get("http://localhost")
		dialer := net.Dialer{Deadline: deadline}
		_, _ = dialer.Dial("tcp", "localhost:1")
		later := &net.Dialer{}
		later.Deadline = deadline
		_, _ = later.Dial("tcp", "localhost:1")
		_, _ = net.DialTimeout("tcp", "localhost:1", time.Second)
		return err
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		daemon := exec.Command("sleep", "1000")
		if err := daemon.Start(); err != nil {
			return err
		}
		killed := exec.Command("sleep", "1000")
		stop := context.AfterFunc(ctx, func() { _ = killed.Process.Kill() })
		defer stop()
		passed := exec.Command("sleep", "1000")
		limit(ctx, passed)
		_ = passed.Run()
		return killed.Run()
	})
	_ = resilient.WrapErr0(g, op, a.all)
	_, _ = http.Get("http://localhost/unguarded")
}

func limit(context.Context, *exec.Cmd) {}

func (a *api) all(ctx context.Context) error { return loadContext(ctx, "all") }

// save is made of what knows no context.
func (a *api) save() error                           { return nil }
func (a *api) saveContext(ctx context.Context) error { return a.save() }

func sibling(ctx context.Context, g *resilient.Guard, op resilient.Op, a *api) error {
	return resilient.Do(ctx, g, op, a.saveContext)
}

func (a *api) drop() error { return nil }
func (a *api) dropContext(ctx context.Context) error {
	return resilient.Do(ctx, theGuard, resilient.Idempotent("drop"), func(context.Context) error { return a.drop() })
}

var theGuard *resilient.Guard
