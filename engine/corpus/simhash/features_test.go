package simhash

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/minio/highwayhash"
	"pgregory.net/rapid"

	"ndd/engine/corpus/token"
)

// featuresBySpecification makes the features of a text with the real shingler, from tokens that it
// hashes one by one.
func featuresBySpecification(r Recipe, text string) *[2]counter {
	f, err := New(r)
	if err != nil {
		panic(err)
	}
	key, _ := hex.DecodeString(r.Key)
	f.ballot.begin()
	f.scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			if t := &tokens[i]; !t.Stop {
				f.ballot.shingles.push(highwayhash.Sum64(f.scanner.AppendText(nil, t), key), t.Kind)
			}
		}
	})
	f.ballot.shingles.endRun()
	return &f.ballot.counts
}

// checkFeatures compares the features of the fast path with those of the specification.
func checkFeatures(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	for _, n := range [][2]int{{1, 1}, {2, 2}, {1, 2}} {
		r := Simhash()
		r.WordShingle, r.CharShingle, r.MinFeatures = n[0], n[1], 1
		f, err := New(r)
		if err != nil {
			t.Fatalf("%v", err)
		}
		f.ballot.begin()
		f.scanner.Scan(text, f.take)
		f.ballot.shingles.endRun()
		want := featuresBySpecification(r, text)
		for k, c := range f.ballot.counts {
			if !slices.Equal(c.hashes, want[k].hashes) || !slices.Equal(c.times, want[k].times) {
				t.Fatalf("n=%v: %q: %d features of kind %d, %d by the specification", n, text, len(c.hashes), k,
					len(want[k].hashes))
			}
		}
	}
}

func TestFeaturesAgainstSpecification(t *testing.T) {
	for _, text := range []string{texts[0].text, texts[11].text, "word 中 word 文 word 中 word 文 words",
		"sixteenletterwrd seventeenletterwd seventeenletterwd"} {
		checkFeatures(t, text)
	}
	alphabet := []rune("aB1_.,:;'\"- \n’é中文がか\u3099ｶﾞก็ำ가\u11a8\u0301\u0323\u200d\u00ad，Ａ½ß\ufffdאᾳ\u0345😀")
	rapid.Check(t, func(t *rapid.T) {
		checkFeatures(t, string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 40).Draw(t, "text")))
	})
	rapid.Check(t, func(t *rapid.T) { checkFeatures(t, rapid.String().Draw(t, "text")) })
}
