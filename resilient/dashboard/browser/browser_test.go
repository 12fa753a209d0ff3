package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience ends a test in which the browser waits for what does not come.
const patience = 60 * time.Second

// chromium is one browser for all tests, started by the first that needs it and ended by
// TestMain.
var chromium struct {
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.end != nil {
		chromium.end()
	}
	os.Exit(code)
}

func startChromium() {
	path, err := exec.LookPath("chromium")
	if err != nil {
		chromium.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.WSURLReadTimeout(patience), chromedp.WindowSize(1280, 900)) // root has no sandbox
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(allocator)
	chromium.ctx = ctx
	chromium.end = func() { endBrowser(); endAllocator() }
	chromium.err = chromedp.Do(ctx) // nothing yet, but it has started
}

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string // what the page itself did wrong
}

// newTab opens a page. What it throws, and what its policy forbids it, fails the test.
func newTab(t *testing.T) *tab {
	t.Helper()
	chromium.once.Do(startChromium)
	if chromium.err != nil {
		if os.Getenv("CI") != "" || os.Getenv("STOIC_BROWSER") == "required" {
			t.Fatalf("this test needs a Chromium: %v", chromium.err)
		}
		t.Skipf("NOT RUN: this test needs a Chromium (%v); STOIC_BROWSER=required makes that a failure", chromium.err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx)
	t.Cleanup(cancel)
	p := &tab{t: t}
	require.NoError(t, chromedp.Listen(ctx, p.hear)) // opens it: a time limit on that would be the browser's
	p.ctx, cancel = context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.faults)
	})
	return p
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		p.faults = append(p.faults, text)
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "Content Security Policy") {
			p.faults = append(p.faults, e.Entry.Text)
		}
	}
}

// forgive returns and forgets the faults, where some are meant.
func (p *tab) forgive() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := p.faults
	p.faults = nil
	return faults
}

// do runs actions, in their order.
func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// await waits until an expression of the page is true, through navigations and the like.
func (p *tab) await(format string, args ...any) {
	p.t.Helper()
	expression := fmt.Sprintf(format, args...)
	var last error
	for p.ctx.Err() == nil {
		var is bool
		if is, last = chromedp.Run(p.ctx, chromedp.Evaluate[bool](expression)); is {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(late, chromedp.Evaluate[string]("document.body.innerText"))
	require.Fail(p.t, "waited in vain", "for %s (%v); the page says:\n%s", expression, last, text)
}

// get evaluates an expression of the page.
func get[T any](p *tab, format string, args ...any) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](fmt.Sprintf(format, args...)))
	require.NoError(p.t, err)
	return value
}

// script runs statements in the page.
func script(format string, args ...any) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(format, args...))
}

// tileOf is the expression for a guard's tile.
func tileOf(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#tiles .tile")].find((t) => t.querySelector(".name").textContent === %q)`, name)
}
