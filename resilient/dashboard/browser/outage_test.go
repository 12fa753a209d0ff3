package browser_test

import (
	"bufio"
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An outage in the example turns its tile red within two seconds, and the page says why.
// STOIC_SCREENSHOT=file keeps a picture of it.
func TestOutage(t *testing.T) {
	p := newTab(t)
	p.do(chromedp.Navigate(startExample(t)))
	p.await(`document.querySelectorAll("#tiles .tile.closed").length > 5`)
	// The page notes when the tile turns red, so that how long it takes to ask does not matter.
	p.do(script("%s", `
		window.late = null;
		const plans = `+tileOf("plan_service")+`;
		new MutationObserver(() => {
			const g = guards.find((g) => g.tile.name === "plan_service");
			if (window.late === null && plans.classList.contains("open")) window.late = Date.now() - g.tile.since;
		}).observe(plans, { attributes: true, attributeFilter: ["class"] });`))
	p.await(`window.late !== null`)
	late := get[float64](p, `window.late`)
	t.Logf("red after %.0f ms", late)
	assert.Less(t, late, 2000.0)
	assert.Contains(t, get[string](p, `getComputedStyle(%s.querySelector(".badge"), "::before").content`, tileOf("plan_service")), "✖", "a sign beside the colour")

	p.await(`[...document.querySelectorAll("#news li.open")].some((li) => /plan_service: open after 5 failures: .*503/.test(li.textContent))`)
	p.await(`%s.querySelector(".cause").textContent.startsWith("last cause: status 503")`, tileOf("plan_service"))
	p.await(`Number(%s.querySelectorAll("b")[0].textContent) > 0`, tileOf("plan_service"))
	if file := os.Getenv("STOIC_SCREENSHOT"); file != "" {
		screenshot(p, file)
	}

	// Its own page has the policy and the picture.
	p.do(chromedp.Focus(`#tiles a[href="guards/plan_service"]`), chromedp.KeyEvent("\r"))
	p.await(`location.pathname.endsWith("/guards/plan_service") && document.readyState === "complete"`)
	assert.Equal(t, 3, get[int](p, `document.querySelectorAll("svg.schedule rect.runs").length`))
	assert.Contains(t, get[string](p, `document.querySelector("pre").textContent`), "circuit_breaker.failure_threshold")
}

func screenshot(p *tab, file string) {
	p.t.Helper()
	// The line has something to show by then.
	p.await(`guards.find((g) => g.tile.name === "plan_service").points.filter((n) => n > 0).length > 40 && document.querySelectorAll(".tile.open").length > 0`)
	p.do(chromedp.EmulateViewport(1280, 740))
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	p.do(chromedp.ResetViewport())
	picture = compressed(p.t, picture)
	require.Less(p.t, len(picture), 200<<10)
	require.NoError(p.t, os.WriteFile(file, picture, 0o644))
}

// compressed is a picture with fewer bytes: of its colours, which the edges of letters make
// many, the 256 that there are most of.
func compressed(t *testing.T, picture []byte) []byte {
	t.Helper()
	decoded, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	bounds := decoded.Bounds()
	often := map[color.Color]int{}
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			often[decoded.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int { return often[b] - often[a] })
	fewer := image.NewPaletted(bounds, colours[:min(len(colours), 256)])
	draw.Draw(fewer, bounds, decoded, bounds.Min, draw.Src)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, fewer))
	return out.Bytes()
}

// startExample runs the example as a process and returns where its page is.
func startExample(t *testing.T) (url string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "services")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..", "..", "examples", "services")
	build.Env = append(os.Environ(), "GOWORK=off")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)

	example := exec.Command(program, "-dashboard", "127.0.0.1:0")
	example.Stderr = os.Stderr
	out, err := example.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, example.Start())
	t.Cleanup(func() {
		_ = example.Process.Signal(os.Interrupt)
		ended := make(chan error, 1)
		go func() { ended <- example.Wait() }()
		select {
		case err := <-ended:
			assert.NoError(t, err, "it ends when it is interrupted")
		case <-time.After(30 * time.Second):
			_ = example.Process.Kill()
			t.Error("it does not end when it is interrupted")
		}
	})
	lines := bufio.NewReader(out)
	url, err = lines.ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return url[:len(url)-1]
}
