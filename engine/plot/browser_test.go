//go:build browser

package plot

import (
	"math"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"example.org/ndd/engine/oracle/must"
)

// TestChartsInABrowser checks that Chromium shows every line and text inside the view.
func TestChartsInABrowser(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	chart := &Chart{Title: "lines", X: "k", Y: "share"}
	for i := range 9 {
		s := Series{Name: string(rune('a' + i))}
		for k := range 11 {
			s.Values = append(s.Values, math.Min(1, float64(k+i)/12))
		}
		chart.Series = append(chart.Series, s)
	}
	// visible counts the elements of a selector that are inside the view and have a positive height or width.
	const visible = `(selector => { const svg = document.documentElement, view = svg.viewBox.baseVal; let n = 0;
		for (const e of svg.querySelectorAll(selector)) { const b = e.getBBox();
			if (b.x >= 0 && b.y >= 0 && b.x + b.width <= view.width && b.y + b.height <= view.height && b.width + b.height > 0) n++ }
		return n })`
	must.Do(t, chromedp.Do(ctx, chromedp.Navigate("data:image/svg+xml,"+url.PathEscape(draw(t, chart)))))
	for selector, want := range map[string]int{"path[fill=none]": 18, "svg > text": 1 + 6 + 11 + 1 + 9} { // each line is in the legend, too
		got, err := chromedp.Run(ctx, chromedp.Evaluate[int](visible+"('"+selector+"')"))
		must.Do(t, err)
		if got != want {
			t.Errorf("%d of %d %q are visible", got, want, selector)
		}
	}
}
