package cli

import "testing"

func TestNearest(t *testing.T) {
	known := map[string]bool{"NDD_THREADS": true, "NDD_LOG_FORMAT": true, "NDD_K": true, "NDD_LOAD": true}
	for name, want := range map[string]string{
		"NDD_THREDS": "NDD_THREADS", "NDD_THRAEDS": "NDD_THREADS", "NDD_THREADSS": "NDD_THREADS", "NDD_LOG_FROMATS": "NDD_LOG_FORMAT",
		"NDD_THRE": "", "NDD_LOCK": "", "NDD_OTHER_PROGRAM": "", "NDD_LOAF": "NDD_LOAD",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abcd", "acbd", 1}, {"same", "same", 0}} {
		if n := slips(c.a, c.b); n != c.n {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, n, c.n)
		}
	}
}
