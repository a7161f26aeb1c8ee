package dedup

import "testing"

// TestPercent checks that only all is 100%.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", 1. / 3: "33.3%", 0.4: "40%", 8997. / 9000: "99.9%",
		99_999. / 100_000: "99.9%", 1: "100%"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}
