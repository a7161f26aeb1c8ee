package simhash

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFingerprintString(t *testing.T) {
	for _, c := range []struct {
		f Fingerprint
		s string
	}{
		{1, "0000000000000001"},
		{0xfedcba9876543210, "fedcba9876543210"},
	} {
		if got := c.f.String(); got != c.s {
			t.Errorf("%x: String gives %q, want %q", uint64(c.f), got, c.s)
		}
		if got, err := Parse(strings.ToUpper(c.s)); err != nil || got != c.f {
			t.Errorf("Parse(%q) = %v, %v", strings.ToUpper(c.s), got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := Fingerprint(rapid.Uint64().Draw(t, "f"))
		if got, err := Parse(f.String()); err != nil || got != f {
			t.Fatalf("Parse(%v) = %v, %v", f, got, err)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for s, want := range map[string]string{
		"":                  "0 characters",
		"123":               "3 characters",
		"00000000000000000": "17 characters",
		"000000000000000g":  "'g' at position 15",
		"+000000000000000":  "'+' at position 0",
		"0x00000000000000":  "'x' at position 1",
		"00000000_0000000":  "'_' at position 8",
		"000000000000000\n": `'\n' at position 15`,
	} {
		if f, err := Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, %v; want an error with %q", s, f, err, want)
		}
	}
}

func TestWords(t *testing.T) {
	words := []uint64{3, 1 << 63}
	if again := Words(Fingerprints(words)); !slices.Equal(again, words) || &again[0] != &words[0] {
		t.Errorf("%v, or a copy", again)
	}
}
