package dedup

import (
	"strings"
	"testing"
)

// TestSlowText checks that only a comparison of many fingerprints with a large k has a warning, with both times.
func TestSlowText(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want string
	}{
		{20_000_000, 8, ""}, // about 200 s
		{1_000_000_000, 8, "comparing 1,000,000,000 fingerprints with k = 8 takes about "},
		{1_000_000_000, 8, ", and with -k 3 about "},
		{1_000_000_000, 3, ""},
	} {
		if got := slowText(c.n, c.k); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%d fingerprints, k = %d: %q, want %q", c.n, c.k, got, c.want)
		}
	}
}
