package shingle

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// corpus writes n documents to a file of JSON lines, each an earlier one with some words changed,
// and returns the texts by ID. Some IDs come twice.
func corpus(t *testing.T, rng *rand.Rand, path, prefix string, texts map[string][]string, base []string, n int) {
	t.Helper()
	var out bytes.Buffer
	for i := range n {
		words := strings.Fields(base[rng.IntN(len(base))])
		for range rng.IntN(6) {
			words[rng.IntN(len(words))] = fmt.Sprint("changed", rng.IntN(100))
		}
		id, text := fmt.Sprint(prefix, i-i%7/6), strings.Join(words, " ")
		texts[id] = append(texts[id], text)
		fmt.Fprintf(&out, "{\"id\": %q, \"text\": %q}\n", id, text)
	}
	must.Do(t, os.WriteFile(path, out.Bytes(), 0o600))
}

// TestCompare holds similarities against those of all texts in a map, with sets in memory and in a
// temporary file, and with one thread and several.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var base []string
	for i := range 10 {
		var words []string
		for range 10 + 8*i {
			words = append(words, fmt.Sprint("word", rng.IntN(300)))
		}
		base = append(base, strings.Join(words, " "))
	}
	dir := t.TempDir()
	var o PairOptions
	var sides [2]map[string][]string
	for side := range sides {
		sides[side] = map[string][]string{}
		path := filepath.Join(dir, fmt.Sprint(side, ".jsonl"))
		corpus(t, rng, path, []string{"a", "b"}[side], sides[side], base, 300)
		o.Inputs[side] = []string{path}
	}
	s := New(t.Context())
	for _, o.Memory = range []int64{0, 20 << 10, 1 << 30} {
		for _, o.Read.Threads = range []int{1, 4} {
			var p Pairs
			var want []float64
			twice := 0
			for range 500 {
				a, b := fmt.Sprint("a", rng.IntN(300)/7*7), fmt.Sprint("b", rng.IntN(42)*7+5)
				p.Add(a, b)
				most := 0.0
				for _, x := range sides[0][a] {
					for _, y := range sides[1][b] {
						most = max(most, Jaccard(s.Append(nil, x), s.Append(nil, y)))
					}
				}
				twice += len(sides[1][b]) - 1
				want = append(want, most)
			}
			got, err := p.Compare(t.Context(), o)
			if err != nil || len(got) != p.Len() {
				t.Fatal(len(got), err)
			}
			alike := 0
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("pair %d: %g, want %g", i, got[i], want[i])
				}
				if want[i] > 0.5 {
					alike++
				}
			}
			if alike == 0 || alike == len(want) || twice == 0 {
				t.Errorf("%d of %d alike, %d documents more of one ID", alike, len(want), twice)
			}
		}
	}
	var p Pairs
	p.Add("a0", "b7")
	p.Add("a0", "nobody")
	if _, err := p.Compare(t.Context(), o); !errors.Is(err, ErrNoText) || !strings.Contains(err.Error(),
		"1 of 2, such as nobody") {
		t.Errorf("an ID that no document has: %v", err)
	}
	if shares, err := new(Pairs).Compare(t.Context(), o); len(shares) > 0 || err != nil {
		t.Errorf("no pairs: %v, %v", shares, err)
	}
}
