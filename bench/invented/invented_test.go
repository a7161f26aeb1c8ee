package invented

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"example.org/ndd/engine/near/eval"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// TestSet checks that the same seed gives the same set; its size is as documented; labels agree with the measured
// Jaccard similarity.
func TestSet(t *testing.T) {
	s := New(7)
	if len(s.Documents) != 1000 || len(s.Pairs) != 3000 {
		t.Fatalf("%d documents, %d pairs", len(s.Documents), len(s.Pairs))
	}
	var once, again, other bytes.Buffer
	must.Do(t, s.WriteDocuments(&once))
	must.Do(t, New(7).WriteDocuments(&again))
	must.Do(t, New(8).WriteDocuments(&other))
	if !bytes.Equal(once.Bytes(), again.Bytes()) || bytes.Equal(once.Bytes(), other.Bytes()) {
		t.Error("the seed does not decide the texts")
	}
	corpus := eval.NewCorpus()
	for _, d := range s.Documents {
		if !utf8.ValidString(d.Text) || len(d.Text) < 100 {
			t.Errorf("%s: %.80q", d.ID, d.Text)
		}
		must.Do(t, corpus.Add(d.ID, d.Text))
	}
	minimum, maximum, count := map[string]float64{}, map[string]float64{}, map[string]int{}
	for _, p := range s.Pairs {
		kind, j := s.Documents[p.A].Lang+" "+p.Label+" "+p.Kind, corpus.Jaccard(p.A, p.B)
		if count[kind]++; count[kind] == 1 {
			minimum[kind] = 1
		}
		minimum[kind], maximum[kind] = min(minimum[kind], j), max(maximum[kind], j)
	}
	for kind, n := range count {
		switch words := strings.Fields(kind); {
		case words[1] == "same" && (maximum[kind] < 0.85 || minimum[kind] < 0.1),
			words[1] == "contains" && (minimum[kind] < 0.1 || maximum[kind] > 0.75),
			kind[3:] == "different other topic" && maximum[kind] > 0.2,
			words[1] == "different" && words[2] != "other" && maximum[kind] > 0.8:
			t.Errorf("%s, %d pairs: Jaccard from %.2f to %.2f", kind, n, minimum[kind], maximum[kind])
		}
	}
	if len(count) != 3*(3+1+2+len(lookAlikes)) {
		t.Errorf("%d kinds: %v", len(count), count)
	}
}

// TestPairsAreLabels checks that ndd eval reads the table of pairs.
func TestPairsAreLabels(t *testing.T) {
	s := New(1)
	var table bytes.Buffer
	must.Do(t, s.WritePairs(&table))
	labels, repeated, err := eval.ReadLabels(t.Context(), files.New(t, "pairs.tsv", table.Bytes()))
	must.Do(t, err)
	if len(labels) != len(s.Pairs) || repeated > 0 {
		t.Errorf("%d labels, %d repeated", len(labels), repeated)
	}
}

// TestBulletinsDifferInNumbers checks that two reports have the same words.
func TestBulletinsDifferInNumbers(t *testing.T) {
	s := New(3)
	for _, p := range s.Pairs {
		if p.Kind != "other numbers" {
			continue
		}
		digits := func(r rune) rune {
			if strings.ContainsRune("0123456789.", r) {
				return -1
			}
			return r
		}
		if one, other := s.Documents[p.A].Text, s.Documents[p.B].Text; one == other ||
			strings.Map(digits, one) != strings.Map(digits, other) {
			t.Errorf("%q and %q", one, other)
		}
	}
}
