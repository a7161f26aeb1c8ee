package serve

import "testing"

// The unit quotes what systemd would take apart.
func TestQuoteUnit(t *testing.T) {
	for word, want := range map[string]string{"plain": "plain", "": `""`, "a b": `"a b"`, "50%": `"50%%"`,
		`"$x"`: `"\"$$x\""`, "a\nb": `"a\nb"`} {
		if got := quoteUnit(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
