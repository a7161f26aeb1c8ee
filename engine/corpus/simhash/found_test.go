package simhash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// TestFound holds what each recipe finds in texts that this test makes and edits against a golden
// file, so that a change of a recipe shows in what it is for: of 500 texts with some of their words
// or characters replaced, the share within distance k, in percent, and the least distance among 500
// unrelated texts.
func TestFound(t *testing.T) {
	var got strings.Builder
	for _, name := range Names() {
		f := newFingerprinter(t, name)
		for _, c := range []struct {
			language string
			make     func(uint64, int) string
			bytes    int
		}{{"english", pseudoEnglish, 300}, {"english", pseudoEnglish, 3000}, {"chinese", pseudoChinese, 300},
			{"chinese", pseudoChinese, 3000}} {
			for _, edits := range []int{1, 5} {
				fmt.Fprintf(&got, "%-13s %s of %4d bytes, %d replaced: %s\n", name, c.language, c.bytes, edits, found(f, c.make,
					c.bytes, edits))
			}
		}
	}
	path := filepath.Join("testdata", "found.golden")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	must.Do(t, err)
	if got.String() != string(want) {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// found returns a line of the table.
func found(f *Fingerprinter, generate func(uint64, int) string, bytes, edits int) string {
	const texts = 500
	rng := rand.New(rand.NewPCG(uint64(bytes), uint64(edits)))
	var within [65]int
	fingerprints := make([]Fingerprint, texts)
	nearest := 64
	for i := range texts {
		text := generate(uint64(i), bytes)
		fingerprints[i], _, _ = f.Fingerprint(text)
		edited, _, _ := f.Fingerprint(replaced(rng, text, edits))
		within[Distance(fingerprints[i], edited)]++
		for _, other := range fingerprints[:i] {
			nearest = min(nearest, Distance(fingerprints[i], other))
		}
	}
	var line strings.Builder
	sum := 0
	for k := range 7 {
		if sum += within[k]; k >= 3 {
			fmt.Fprintf(&line, "k=%d %5.1f  ", k, 100*float64(sum)/texts)
		}
	}
	fmt.Fprintf(&line, "unrelated from %d", nearest)
	return line.String()
}

// replaced replaces some words, or characters where there are no spaces, by others.
func replaced(rng *rand.Rand, text string, edits int) string {
	words := strings.SplitAfter(text, " ")
	fresh := func() string { return fmt.Sprintf("zyx%d ", rng.IntN(1000)) }
	if len(words) == 1 {
		words = strings.Split(text, "")
		fresh = func() string { return string(rune(0x9000 + rng.IntN(1000))) }
	}
	for _, at := range rng.Perm(len(words))[:edits] {
		words[at] = fresh()
	}
	return strings.Join(words, "")
}
