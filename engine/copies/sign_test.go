package copies

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ndd/engine/copies/signature"
	"ndd/engine/oracle/must"
)

// TestLongText: the signatures of a long text, which are gathered in batches, are those of a short
// one.
func TestLongText(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 8))
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(english(random, 20))
		b.WriteString(chinese(random, 100))
	}
	for _, m := range []Method{SpotSigs, CCDet, Winnow, Shingles} {
		for _, bags := range []bool{false, true} {
			s, err := NewSigner(Options{Method: m, Bags: bags})
			must.Do(t, err)
			signed := signature.Append(nil, s.selectors[m], b.String())
			all := signature.Gatherer{Bag: bags}
			all.Add(signed)
			want := all.Set()
			if got := s.Sign(b.String()).Own; !slices.Equal(got, want) || len(want) <= 4096 {
				t.Errorf("%s, bags %t: a set of %d, want %d", m, bags, len(got), len(want))
			}
			short := b.String()[:1000]
			if got, want := s.Sign(short).Own, len(signature.Append(nil, s.selectors[m], short)); len(got) > want {
				t.Errorf("%s: a short text behind a long one has %d signatures of %d", m, len(got), want)
			}
		}
	}
}
