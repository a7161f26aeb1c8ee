package ui

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestContrast checks that in both colour schemes, text has a contrast of at least 4.5, and edges of fields and buttons
// of at least 3 (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	css, err := static.ReadFile("static/style.css")
	must.Do(t, err)
	light, dark, ok := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	dark, _, more := strings.Cut(dark, "* {")
	if !ok || !more {
		t.Fatal("no colours")
	}
	for name, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(text, -1) {
			colours[m[1]] = m[2]
		}
		for _, c := range []struct {
			front, back string
			ratioMin    float64
		}{
			{"ink", "card", 4.5}, {"ink", "back", 4.5}, {"ink", "accent-soft", 4.5}, {"quiet", "card", 4.5}, {"quiet", "back",
				4.5}, {"accent", "card", 4.5},
			{"accent", "accent-soft", 4.5}, {"accent-ink", "accent", 4.5}, {"warn", "card", 4.5}, {"warn", "warn-soft", 4.5},
			{"second", "card", 3}, {"strong-edge", "card", 3}, {"strong-edge", "back", 3},
		} {
			front, back := luminance(t, colours[c.front]), luminance(t, colours[c.back])
			if ratio := (max(front, back) + 0.05) / (min(front, back) + 0.05); ratio < c.ratioMin {
				t.Errorf("%s: %s on %s: %.2f, %g is needed", name, c.front, c.back, ratio, c.ratioMin)
			}
		}
	}
}

// luminance returns the relative luminance of a colour, such as #17211f.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var parts [3]uint8
	if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &parts[0], &parts[1], &parts[2]); err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	var linear [3]float64
	for i, part := range parts {
		if linear[i] = float64(part) / 255 / 12.92; float64(part)/255 > 0.04045 {
			linear[i] = math.Pow((float64(part)/255+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}
