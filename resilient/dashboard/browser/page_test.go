package browser_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// house is a program with guards and their page.
type house struct {
	meter  *dashboard.Meter
	guards resilient.GuardList
	board  *dashboard.Dashboard
	url    string
}

var quiet = slog.New(slog.DiscardHandler)

func newHouse(t *testing.T, options dashboard.Options, names ...string) *house {
	t.Helper()
	h := &house{meter: dashboard.NewMeter()}
	policy := resilient.DefaultPolicy()
	policy.Circuit.FailureThreshold = 3
	for _, name := range names {
		g, err := resilient.NewGuard(name, policy, &resilient.Options{Logger: quiet, Observers: []resilient.Observer{h.meter}})
		require.NoError(t, err)
		h.guards = append(h.guards, g)
	}
	options.Meter, options.Logger = h.meter, quiet
	h.board = dashboard.New(h.guards, &options)
	server := httptest.NewServer(h.board)
	t.Cleanup(func() {
		h.board.Close()
		server.Close()
	})
	h.url = server.URL + "/"
	return h
}

func fail(g *resilient.Guard, err error) {
	_ = resilient.Do(context.Background(), g, resilient.NonIdempotent("put"), func(context.Context) error { return err })
}

func succeed(g *resilient.Guard) { fail(g, nil) }

func asAnn(*http.Request) (string, error) { return "ann", nil }

// A circuit that only observes says so, and why it would be open; the filter finds it.
func TestObserving(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dashboard.Options{}, "orders", "stock")
	trial := h.guards[0].Policy()
	trial.Circuit.Observe = true
	require.NoError(t, h.guards[0].SetPolicy(trial))
	p := newTab(t)
	p.do(chromedp.Navigate(h.url))
	p.await(`document.querySelectorAll("#tiles .tile.closed").length === 2`)
	for range 5 {
		fail(h.guards[0], errors.New("down"))
	}
	p.await(`document.querySelector(".tile.open.observes .badge")?.textContent === "open (only observes)"`)
	p.await(`/rule consecutive · would have refused 2/.test(document.querySelector(".tile.observes .times").textContent)`)
	p.await(`/after 3 failures; it only observes/.test(document.querySelector("#news li.open").textContent)`)
	p.do(choose("state", "observes"))
	p.await(`[...document.querySelectorAll("#tiles > li")].filter((li) => !li.hidden).map((li) => li.querySelector(".name").textContent).join() === "orders"`)
}

// A forced circuit shows by whom and until when, and is released the same way.
func TestForcedOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dashboard.Options{Control: asAnn}, "orders", "stock/de")
	p := newTab(t)
	p.do(chromedp.Navigate(h.url))
	p.await(`document.querySelectorAll("#tiles .tile.closed").length === 2`)
	p.do(chromedp.Click(`#tiles a[href="guards/stock%2Fde"]`))
	p.await(`document.querySelector("#control") !== null`)
	p.do(chromedp.SetValue(`[name=for]`, "45m"), chromedp.SendKeys(`[name=reason]`, "the warehouse <moves>"), chromedp.Click("#control button"))
	p.await(`document.readyState === "complete" && document.querySelector(".tile.forced-open") !== null`)
	assert.Equal(t, "forced-open", h.guards[1].Circuit().State().String())
	assert.Equal(t, "closed", h.guards[0].Circuit().State().String())
	p.await(`document.body.innerText.includes("ann: the warehouse <moves>")`)

	p.do(chromedp.Navigate(h.url))
	p.await(`/until [0-9:]+ \(in 4[45] min.*by ann: the warehouse <moves>/.test(%s?.querySelector(".times").textContent)`, tileOf("stock/de"))
	p.await(`%s.querySelector(".badge").textContent === "forced-open"`, tileOf("stock/de"))
	p.await(`document.querySelector("#news li.order").textContent.includes("force-open by ann for 45m0s: the warehouse <moves>")`)

	p.do(chromedp.Navigate(h.url+"guards/stock%2Fde"),
		chromedp.SetValue("[name=action]", "release"), chromedp.SendKeys("[name=reason]", "it has"), chromedp.Click("#control button"))
	p.await(`document.readyState === "complete" && document.querySelector(".tile.closed") !== null`)
	assert.Equal(t, "closed", h.guards[1].Circuit().State().String())
}

// Who may not steer is told so, and nothing changes; nor by a page of another origin.
func TestUnauthorised(t *testing.T) {
	t.Parallel()
	var asked int
	h := newHouse(t, dashboard.Options{Control: func(*http.Request) (string, error) {
		asked++
		return "", errors.New("not on call")
	}}, "orders")
	p := newTab(t)
	p.do(chromedp.Navigate(h.url+"guards/orders"), chromedp.SendKeys("[name=reason]", "please"), chromedp.Click("#control button"))
	p.await(`document.body.innerText.includes("you may not steer circuits")`)
	assert.Equal(t, "closed", h.guards[0].Circuit().State().String())
	assert.Equal(t, 1, asked)

	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<form method="post" action="%sguards/orders/control"><input name="action" value="reset"><input name="reason" value="r"><button>win a prize</button></form>`,
			strings.Replace(h.url, "127.0.0.1", "localhost", 1))
	}))
	defer elsewhere.Close()
	p.do(chromedp.Navigate(elsewhere.URL), chromedp.Click("button"))
	p.await(`document.body.innerText.includes("an order must come from this page")`)
	assert.Equal(t, 1, asked)
}

// What stands in an error, a name or a reason is text: it does not run, and makes no
// element. What would, is forbidden.
func TestScriptDoesNotRun(t *testing.T) {
	t.Parallel()
	const hostile = `<img src=x onerror="document.title='owned'"><script>document.title="owned"</script>`
	h := newHouse(t, dashboard.Options{Title: hostile}, "orders", hostile)
	for _, g := range h.guards {
		for range 3 {
			fail(g, errors.New(hostile))
		}
	}
	p := newTab(t)
	for _, path := range []string{"", "guards/orders"} {
		p.do(chromedp.Navigate(h.url + path))
		p.await(`document.body.innerText.includes("onerror=")`)
		p.await(`document.querySelector(".cause").textContent.includes("<script>")`)
		assert.Zero(t, get[int](p, `document.querySelectorAll("img").length + document.querySelectorAll("script:not([src])").length`), path)
		assert.NotEqual(t, "owned", get[string](p, `document.title`), path)
	}
	// Should such text ever become markup, the browser would still refuse to run it.
	p.do(script("%s", `
		const script = document.createElement("script");
		script.textContent = "window.owned = true";
		document.body.append(script);
		document.body.insertAdjacentHTML("beforeend", "<p onclick='window.owned = true' id=trap>x</p>");
		document.getElementById("trap").click();`))
	assert.Nil(t, get[any](p, `window.owned ?? null`))
	assert.NotEmpty(t, p.forgive(), "and it says so")
}

// A stream that is cut comes back by itself, and shows what has happened meanwhile.
func TestReconnect(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dashboard.Options{}, "orders")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	server := &http.Server{Handler: h.board, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()

	p := newTab(t)
	p.do(chromedp.Navigate("http://" + address))
	p.await(`document.getElementById("live").className === "on"`)
	require.NoError(t, server.Close()) // all connections with it
	p.await(`document.getElementById("live").className === "off" && document.getElementById("live").textContent.startsWith("not live: what is shown is of ")`)
	for range 3 {
		fail(h.guards[0], errors.New("refused"))
	}
	assert.Equal(t, 1, get[int](p, `document.querySelectorAll(".tile.closed").length`))

	listener, err = net.Listen("tcp", address)
	require.NoError(t, err)
	server = &http.Server{Handler: h.board, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	p.await(`document.getElementById("live").className === "on" && document.querySelectorAll(".tile.open").length === 1`)
	p.await(`document.querySelectorAll("#news li").length === 1`)
}

// A page that was turned away tries again.
func TestTurnedAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dashboard.Options{MaxClients: 1}, "orders")
	first, second := newTab(t), newTab(t)
	first.do(chromedp.Navigate(h.url))
	first.await(`document.getElementById("live").className === "on"`)
	second.do(chromedp.Navigate(h.url))
	second.await(`document.getElementById("live").textContent === "no connection yet"`)
	first.do(chromedp.Navigate("about:blank"))
	second.await(`document.getElementById("live").className === "on"`)
}

// Two hundred guards: sort, filter, keyboard, a phone, dark and light.
func TestTwoHundredGuards(t *testing.T) {
	t.Parallel()
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprintf("service_with_a_long_name_%03d", i)
	}
	h := newHouse(t, dashboard.Options{}, names...)
	for range 3 {
		fail(h.guards[150], errors.New("disk full"))
		succeed(h.guards[70])
	}
	fail(h.guards[33], errors.New("one of two"))
	succeed(h.guards[33])
	p := newTab(t)
	p.do(chromedp.Navigate(h.url))
	p.await(`document.querySelectorAll("#tiles .tile").length === 200`)
	const first = `[...document.querySelectorAll("#tiles li:not([hidden]) .name")].slice(0, 1).map((n) => n.textContent)[0]`
	p.await(first+` === %q`, names[150]) // by state, the worst at first
	p.await(`document.getElementById("summary").textContent === "1 open · 199 closed"`)
	p.await(`document.querySelectorAll(".line polyline.errors[points*=',']").length === 2`)

	sortBy := func(by, want string) {
		t.Helper()
		p.do(choose("sort", by))
		p.await(first+` === %q`, want)
	}
	sortBy("name", names[0])
	sortBy("errors", names[150])
	sortBy("volume", names[70]) // three calls beside three: the name decides
	const visible = `document.querySelectorAll("#tiles li:not([hidden])").length`
	p.do(choose("state", "not-closed"))
	p.await(visible + ` === 1`)
	p.do(choose("state", ""), chromedp.SendKeys("#find", "Disk FULL"))
	p.await(visible + ` === 1`)

	// From the search by the keyboard to the guard's page: state, sort, the first tile.
	p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	p.await(`document.activeElement === %s`, tileOf(names[150]))
	assert.NotEqual(t, "none", get[string](p, `getComputedStyle(document.activeElement).outlineStyle`), "it is seen where one is")
	p.do(chromedp.KeyEvent("\r"))
	p.await(`location.pathname.endsWith(%q)`, "/guards/"+names[150])

	p.do(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile))
	for _, path := range []string{"guards/" + names[150], ""} {
		p.do(chromedp.Navigate(h.url + path))
		p.await(`document.querySelector(".tile") !== null`)
		assert.LessOrEqual(t, get[int](p, `document.documentElement.scrollWidth`), 360, path)
	}
	ground := func(scheme string) string {
		p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}))
		return get[string](p, `getComputedStyle(document.body).backgroundColor`)
	}
	assert.NotEqual(t, ground("light"), ground("dark"))
	assert.Zero(t, get[int](p, `performance.getEntriesByType("resource").filter((r) => !r.name.startsWith(location.origin)).length`))
}

// 200 guards at 10 000 calls a second: each tile is drawn each second, and the page keeps
// up. How long that takes is told, not judged.
func TestBusyPage(t *testing.T) {
	t.Parallel()
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprintf("service_%03d", i)
	}
	h := newHouse(t, dashboard.Options{}, names...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ctx.Err() == nil; {
			<-tick.C
			for range 100 {
				succeed(h.guards[n%200])
				n++
			}
		}
	}()
	defer func() { cancel(); <-ended }()
	p := newTab(t)
	p.do(chromedp.Navigate(h.url))
	p.await(`document.querySelectorAll("#tiles .tile").length === 200`)
	p.do(script("%s", `
		window.timings = [];
		const original = receive;
		receive = (frame, full) => {
			const began = performance.now();
			original(frame, full);
			document.body.offsetHeight; // the layout too
			timings.push({ ms: performance.now() - began, points: Object.keys(frame.points || {}).length, full });
		};`))
	p.await(`timings.length >= 4`)
	assert.Equal(t, 200, get[int](p, `timings[3].points`))
	assert.False(t, get[bool](p, `timings.some((f) => f.full)`), "it was never behind")
	t.Logf("a frame takes the page %.0f ms at most", get[float64](p, `Math.max(...timings.map((f) => f.ms))`))
	p.await(`[...document.querySelectorAll(".line polyline")].filter((l) => (l.getAttribute("points") || "").length > 0).length >= 200`)
}

// choose sets one of the page's own controls.
func choose(id, value string) chromedp.Action[chromedp.Void] {
	return script(`document.getElementById(%[1]q).value = %[2]q; document.getElementById(%[1]q).dispatchEvent(new Event("input"))`, id, value)
}
