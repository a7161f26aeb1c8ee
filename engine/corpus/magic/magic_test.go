package magic

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for start, want := range map[string]string{
		"\x7fELF\x02\x01\x01": "a program (ELF)",
		"PK\x03\x04\x2d\x00":  "a ZIP archive",
		"\x1f\x8b\x08\x00":    "compressed by gzip",
		"BZh91AY&SY\x00":      "compressed by bzip2",
		"BZh9 is text":        "",
		"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00]":    "a Python pickle",
		"\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x01]":    "",
		"\x80\x03]q\x00(K\x01K\x02K\x03e.":                 "a Python pickle",
		"\x80\x02cnumpy.core.multiarray\n":                 "a Python pickle",
		"\x80\x02X\x05\x00\x00\x00helloq\x00.":             "a Python pickle",
		"\x80\x02\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a": "",
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

// TestRandom: fingerprints look like another format in one file of millions at most.
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
