package magic

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for start, want := range map[string]string{
		"\x7fELF\x02\x01\x01":              "a program (ELF)",
		"PK\x03\x04\x2d\x00":               "a ZIP archive",
		"\x1f\x8b\x08\x00":                 "compressed by gzip",
		"BZh91AY&SY\x00":                   "compressed by bzip2",
		"BZh9 is text":                     "",
		"PAR1\x15\x00":                     "a Parquet file",
		"text":                             "",
		"":                                 "",
		strings.Repeat("\x00", 300):        "",
		strings.Repeat("a", 257) + "ustar": "a tar archive",
	} {
		if got := Format([]byte(start)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", start, got, want)
		}
	}
}

// TestRandom checks that fingerprints look like another format in one file of millions at most.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 512)
	for range 200_000 {
		for i := range 32 {
			b[i] = byte(r.Uint32())
		}
		if f := Format(b); f != "" {
			t.Fatalf("%x is %s", bytes.TrimRight(b, "\x00"), f)
		}
	}
}
