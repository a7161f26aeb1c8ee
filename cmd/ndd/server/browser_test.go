//go:build browser

package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/must"
)

// browserMax is the maximum time of a test with a browser. Tests wait for elements, not for a fixed time.
const browserMax = 5 * time.Minute

// A tab is a tab of a headless Chromium, with the errors of its console.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// newTab starts a browser with a new profile, opens a page, and waits until an element is visible.
func newTab(t *testing.T, url, selector string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	_, err := chromedp.Run(ctx, chromedp.Title()) // starts the browser, which runs until ctx ends
	must.Do(t, err)
	messages := chromedp.Console(ctx)
	ctx, cancel = context.WithTimeout(ctx, browserMax)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if text := fmt.Sprint(m); !strings.Contains(text, "401") {
				b.mu.Lock()
				b.faults = append(b.faults, text)
				b.mu.Unlock()
			}
		}
	}()
	b.do(chromedp.Navigate(url), chromedp.WaitVisible(selector))
	return b
}

// hold fails the test if an action fails.
func (b *tab) hold(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%v; the browser complained of %q", err, b.complaints())
	}
}

// do runs actions.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.hold(chromedp.Do(b.ctx, actions...))
}

// evaluate runs an action and returns its value.
func evaluate[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	b.hold(err)
	return v
}

// press clicks on an element by script. A simulated mouse could miss it, because figures that arrive meanwhile move
// the element.
func press(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).click()", selector))
}

func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

// text returns the text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return evaluate(b, chromedp.Text(selector))
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.t.Helper()
	evaluate(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(browserMax)))
}

// picture writes a screenshot of the whole page to the folder NDD_SCREENSHOTS, if that is set.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("NDD_SCREENSHOTS")
	if dir == "" {
		return
	}
	must.Do(b.t, os.WriteFile(filepath.Join(dir, name+".png"), evaluate(b, chromedp.FullScreenshot(100)), 0o644))
}

// fits wants a page to be no wider than a browser of any size in either colour scheme, and the browser not to have
// complained of it.
func (b *tab) fits(name string) {
	b.t.Helper()
	for _, l := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"desktop-light", 1280, 900, "light"}, {"desktop-dark", 1280, 900, "dark"}, {"phone-light", 390, 844, "light"},
		{"phone-dark", 390, 844, "dark"}} {
		b.do(chromedp.EmulateViewport(l.width, l.height))
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}})
		must.Do(b.t, err)
		over := evaluate(b, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`))
		if over > 0 {
			b.t.Errorf("%s: the page is %g pixels too wide", l.name, over)
		}
		b.picture(name + "-" + l.name)
	}
	if faults := b.complaints(); len(faults) > 0 {
		b.t.Errorf("the browser complained of %q", faults)
	}
}

// pageIndex has documents that are near pageA, and some thousand others.
func pageIndex(t *testing.T) *bench {
	x, err := engine.New(3, engine.Options{Recipe: defaultRecipe()})
	must.Do(t, err)
	random := rand.New(rand.NewPCG(5, 6))
	b := start(t, x, "")
	first := ask[insertAnswer](t, b, "/v1/insert", fmt.Sprintf(`{"id": "https://a.example/page", "text": %q}`, pageA))
	var near uint64
	fmt.Sscanf(first.Fingerprint, "%x", &near)
	ask[insertAnswer](t, b, "/v1/insert", fmt.Sprintf(`{"id": "<b>b</b>", "fingerprint": "%016x"}`, near^1<<63^1<<4))
	docs := make([]engine.Doc, 40_000)
	for i := range docs {
		docs[i] = engine.Doc{ID: fmt.Sprintf("https://example.org/%x", random.Uint64()),
			Fingerprint: simhash.Fingerprint(random.Uint64())}
	}
	_, err = x.Insert(t.Context(), docs...)
	must.Do(t, err)
	return b
}

// TestPageInABrowser pastes a text as a user does. The page must show the near documents with the differing bits, and
// the figures of the index.
func TestPageInABrowser(t *testing.T) {
	b := pageIndex(t)
	p := newTab(t, b.URL, "#tiles .big")
	if tiles := p.text("#tiles"); !strings.Contains(tiles, "40,002") || !strings.Contains(tiles, "In memory") {
		t.Errorf("tiles: %s", tiles)
	}
	if state := p.text("#state"); state != "Ready" {
		t.Errorf("state %q", state)
	}
	p.do(chromedp.SendKeys("#subject", pageA), press("#query button"), chromedp.WaitVisible("#answer .hit .ids"))
	if got := p.text("#answer-summary"); got != "As text: 2 documents with 2 fingerprints within 3 bits." {
		t.Errorf("summary %q", got)
	}
	answer := p.text("#answer")
	for _, want := range []string{"https://a.example/page", "same fingerprint", "<b>b</b>", "2 bits differ",
		"Differs in bits 63, 4"} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer has no %q: %s", want, answer)
		}
	}
	boxed, shown := evaluate(p, chromedp.Evaluate[int](`document.querySelectorAll("#answer .bits b").length`)),
		evaluate(p, chromedp.Evaluate[int](`document.querySelectorAll("#answer .hit").length`))
	if boxed != 2 || shown != 3 {
		t.Errorf("%d bits are boxed in %d entries", boxed, shown)
	}

	p.fits("page")
}

// TestPageByKeyboard checks that the keyboard is enough. The focus is visible, and its order follows the page.
func TestPageByKeyboard(t *testing.T) {
	b := pageIndex(t)
	p := newTab(t, b.URL, "#tiles .big")
	var way []string
	for range 8 {
		p.do(chromedp.KeyEvent(kb.Tab))
		way = append(way, evaluate(p,
			chromedp.Evaluate[string](`document.activeElement.id || document.activeElement.value ||
				document.activeElement.textContent`)))
	}
	if got, want := strings.Join(way, " | "), "Skip to the search | ndd | Index | API | subject | auto | k | "+
		"Find"; got != want {
		t.Errorf("the order of the focus is %s, want %s", got, want)
	}
	print := ask[Neighbours](t, b, "/v1/query", fmt.Sprintf(`{"text": %q}`, pageA))
	p.do(chromedp.Focus("#subject"), chromedp.KeyEvent(print.Fingerprint), chromedp.KeyEvent(kb.Tab),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("#answer .hit .ids"))
	if got := p.text("#answer-summary"); got != "As a fingerprint: 2 documents with 2 fingerprints within 3 bits." {
		t.Errorf("summary %q", got)
	}
	// Every element that a screen reader reaches has a name, and the answer is announced.
	nameless := evaluate(p, chromedp.Evaluate[[]string](`[...document.querySelectorAll(
		"input, select, textarea, button, a, svg, [role=img]")].filter((e) =>
		!(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute("aria-label") && 
		!e.querySelector("title")).map((e) => e.outerHTML)`))
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
	if live := evaluate(p, chromedp.Evaluate[string](
		`document.querySelector("#answer-summary").getAttribute("aria-live")`)); live != "polite" {
		t.Errorf("aria-live %q", live)
	}
}

// TestPageSaysWhatIsWrong checks that the page shows errors of the server as text.
func TestPageSaysWhatIsWrong(t *testing.T) {
	b := pageIndex(t)
	p := newTab(t, b.URL, "#tiles .big")
	for input, want := range map[string]string{"": "Paste something first.", "too short": "document too short",
		"<p>short</p>": "document too short"} {
		p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#subject").value = ""`),
			chromedp.SendKeys("#subject", input), press("#query button"))
		p.until(fmt.Sprintf(`document.querySelector("#answer-summary").textContent.includes(%q)`, want))
	}
	b.Server.CloseClientConnections()
	b.Server.Listener.Close()
	p.until(`document.querySelector("#state").textContent === "No connection"`)
}

// TestPageAsksForAToken checks that if tokens are required, the page asks for one and does not store it.
func TestPageAsksForAToken(t *testing.T) {
	const secret = "read-0123456789abcdef"
	b := start(t, newIndex(t, 3, nil, []uint64{5}), secret+" read\n")
	p := newTab(t, b.URL, "#login")
	p.until(`getComputedStyle(document.querySelector("#search")).display === "none"`)
	p.do(chromedp.SendKeys("#token", "wrong-0123456789abcdef"+kb.Enter))
	p.until(`document.querySelector("#login-error").textContent.includes("does not know")`)
	p.picture("login")
	p.do(chromedp.SendKeys("#token", secret+kb.Enter), chromedp.WaitNotVisible("#login"),
		chromedp.WaitVisible("#tiles .big"),
		chromedp.SendKeys("#subject", "0000000000000004"), press("#query button"), chromedp.WaitVisible("#answer .hit .ids"))
	if answer := p.text("#answer"); !strings.Contains(answer, "row-0") || !strings.Contains(answer, "1 bit differs") {
		t.Errorf("%s", answer)
	}
	kept := evaluate(p, chromedp.Evaluate[string](`JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage),
		document.cookie, location.href]) + document.documentElement.outerHTML`))
	if strings.Contains(kept, secret) {
		t.Error("the page keeps the token")
	}
	p.do(chromedp.Reload(), chromedp.WaitVisible("#login"), chromedp.Navigate(b.URL+"/docs"),
		chromedp.WaitVisible("#operations h2"))
	if text := p.text("#insert"); !strings.Contains(text, "Needs a token of the role write") || !strings.Contains(text,
		"Authorization: Bearer $TOKEN") {
		t.Errorf("the reference of /v1/insert: %s", text)
	}
}

// TestDocsInABrowser checks that the reference has every endpoint, each with a command that can be copied.
func TestDocsInABrowser(t *testing.T) {
	b := pageIndex(t)
	p := newTab(t, b.URL+"/docs", "#operations h2")
	text := p.text("#operations")
	for _, r := range b.routes() {
		method, path, _ := strings.Cut(strings.ReplaceAll(r.pattern, "...}", "}"), " ")
		if path == "/openapi.json" {
			continue
		}
		if !strings.Contains(text, path) || !strings.Contains(text, "curl") || !strings.Contains(text, method) {
			t.Errorf("%s is not there", r.pattern)
		}
	}
	if !strings.Contains(text, `curl -s '`+b.URL+`/v1/check-and-insert?id=https://a.example/&k=3'`) {
		t.Errorf("no command for a page: %.2000s", text)
	}
	p.fits("docs")
}

// TestPagePolicyInABrowser checks that the page does not run scripts that are not files of the server.
func TestPagePolicyInABrowser(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, nil), "")
	p := newTab(t, b.URL, "#tiles .big")
	ran := evaluate(p, chromedp.Evaluate[bool](`
		const s = document.createElement("script"); s.textContent = "window.ran = true"; document.head.append(s);
		const i = document.createElement("img"); i.setAttribute("onerror", "window.ran = true");
		i.src = "data:,"; document.body.append(i);
		new Promise((done) => setTimeout(() => done(window.ran === true), 300))`, chromedp.EvalAwaitPromise))
	if ran {
		t.Error("it ran")
	}
}
