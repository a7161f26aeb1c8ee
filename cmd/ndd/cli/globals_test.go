package cli

import "testing"

func TestThreadsOf(t *testing.T) {
	for _, c := range [][3]int{{0, 2, 2}, {1, 2, 1}, {16, 2, 16}, {1000, 2, 16}, {20, 5, 20}, {1000, 128, 512}} {
		if got := threadsOf(c[0], c[1]); got != c[2] {
			t.Errorf("%d threads for %d processors: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
