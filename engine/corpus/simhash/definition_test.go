package simhash

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"ndd/engine/corpus/token"
	"ndd/engine/oracle/must"
)

// TestDefinition: the package comment says the fingerprints, hashes and constants that the code
// makes.
func TestDefinition(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	must.Do(t, err)
	var vectors []string
	for _, name := range Names() {
		line := name
		for _, text := range []string{"The quick brown fox jumps over the lazy dog near the river bank.",
			"敏捷的棕色狐狸跳过了懒狗。กาแฟ ២៣ ᏣᎳᎩ ﬁne naïve isn't 3.14"} {
			r, _ := RecipeByName(name)
			f, err := New(r)
			must.Do(t, err)
			fp, _, _ := f.Fingerprint(text)
			line += " " + fp.String()
		}
		vectors = append(vectors, line)
	}
	var key [32]byte
	hex.Decode(key[:], []byte(PublishedKey))
	k := token.NewKey(key)
	s, err := token.NewScanner(token.Options{})
	must.Do(t, err)
	hasher := token.NewHasher(s, key)
	s.Scan("the internationalisations", func(words []token.Token) {
		a, b := k.Hash(s, &words[0]), k.Hash(s, &words[1])
		vectors = append(vectors, fmt.Sprintf("k is %016x %016x %016x %016x", k[0], k[1], k[2], k[3]),
			fmt.Sprintf(`"the" is %016x, of "internationalisations" %016x, of both as a pair %016x`, a, b, token.Fold(a, b)),
			fmt.Sprintf("%016x and %016x", hasher.Learn(&words[0]).Hash, hasher.Learn(&words[1]).Hash))
	})
	said := strings.Join(strings.Fields(strings.ReplaceAll(string(page), "//", "")), " ")
	for _, v := range vectors {
		if !strings.Contains(said, v) {
			t.Errorf("the package comment does not say %s", v)
		}
	}
}
