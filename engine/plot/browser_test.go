//go:build browser

package plot

import (
	"math"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"example.org/ndd/engine/oracle/must"
)

// TestChartsInABrowser: Chromium shows every bar, line and point inside the view, and every bar has an area.
func TestChartsInABrowser(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	bars := &Bars{Title: "bars", X: "x", Y: "y", Every: 16, Line: 1}
	for i := range 128 {
		bars.Values = append(bars.Values, 0.5+float64(i%7)/7)
	}
	lines := &Lines{Title: "lines", X: "k", Y: "share"}
	for i := range 9 {
		s := Series{Name: string(rune('a' + i))}
		for k := range 11 {
			s.Values = append(s.Values, math.Min(1, float64(k+i)/12))
			s.Points = append(s.Points, Wilson(s.Values[k], 100))
		}
		lines.Series = append(lines.Series, s)
	}
	// visible counts the elements of a selector that are inside the view and have a positive height or width.
	const visible = `(selector => { const svg = document.documentElement, view = svg.viewBox.baseVal; let n = 0;
		for (const e of svg.querySelectorAll(selector)) { const b = e.getBBox();
			if (b.x >= 0 && b.y >= 0 && b.x + b.width <= view.width && b.y + b.height <= view.height && b.width + b.height > 0) n++ }
		return n })`
	for _, test := range []struct {
		svg      string
		selector string
		want     int
	}{
		{draw(t, bars), "g > rect", 128}, {draw(t, lines), "circle", 99}, {draw(t, lines), "path[fill=none]", 9},
	} {
		must.Do(t, chromedp.Do(ctx, chromedp.Navigate("data:image/svg+xml,"+url.PathEscape(test.svg))))
		got, err := chromedp.Run(ctx, chromedp.Evaluate[int](visible+"('"+test.selector+"')"))
		must.Do(t, err)
		if got != test.want {
			t.Errorf("%d of %d %q are visible", got, test.want, test.selector)
		}
	}
}
