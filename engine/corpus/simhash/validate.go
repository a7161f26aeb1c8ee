package simhash

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/token"
)

// Validate returns nil, or an error that names the first field with a value that this version of the package does not
// support.
func (r Recipe) Validate() error {
	if r.Version < 1 || r.Version > RecipeVersion {
		return fmt.Errorf("recipe: version is %d, this program knows versions 1 to %d", r.Version, RecipeVersion)
	}
	v := &validation{}
	v.sketch(&r)
	v.numbers(&r)
	v.words(&r)
	v.oneOf("normalisation", r.Normalisation, NormalisationNFKC)
	v.want(len(r.Key) == 64 && strings.ToLower(r.Key) == r.Key, "key is %.80q, must be 64 lower-case hexadecimal digits", r.Key)
	_, err := hex.DecodeString(r.Key)
	v.want(err == nil, "key: %w", err)
	return v.err
}

// A validation stores the first error.
type validation struct{ err error }

// want stores an error unless ok is true.
func (v *validation) want(ok bool, format string, args ...any) {
	if v.err == nil && !ok {
		v.err = fmt.Errorf("recipe: "+format, args...)
	}
}

func (v *validation) oneOf(field, value string, names ...string) {
	v.want(slices.Contains(names, value), "%s is %.64q, must be one of %s", field, value, strings.Join(names, ", "))
}

// sketch checks the settings that differ between simhash and minwise.
func (v *validation) sketch(r *Recipe) {
	if r.Version == 1 {
		v.want(r.Sketch == "", "sketch is %.64q, must be absent in version 1, which is simhash", r.Sketch)
		v.oneOf("word_weights", r.WordWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary)
		v.oneOf("char_weights", r.CharWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary)
		v.oneOf("hash", r.Hash, HashHighway)
		return
	}
	v.oneOf("sketch", r.Sketch, SketchMinwise)
	v.want(r.WordWeights == "", "word_weights is a setting of simhash, and this is another sketch")
	v.want(r.CharWeights == "", "char_weights is a setting of simhash, and this is another sketch")
	v.oneOf("hash", r.Hash, HashMum)
}

// numbers checks the numeric settings. Each belongs to one version, and must be absent in the other one.
func (v *validation) numbers(r *Recipe) {
	for _, f := range []struct {
		version int // version that has the field
		name    string
		value   int
		lo, hi  int
	}{
		{1, "word_shingle", r.WordShingle, 1, maxShingle},
		{1, "char_shingle", r.CharShingle, 1, maxShingle},
		{1, "min_features", r.MinFeatures, 1, 1 << 20},
		{2, "min_bins", r.MinBins, 1, bins},
		{2, "word_weight", r.WordWeight, 1, 16},
		{2, "char_weight", r.CharWeight, 1, 16},
		{2, "char_pair_weight", r.CharPairWeight, 0, 16},
		{2, "word_pair_weight", r.WordPairWeight, 0, 16},
	} {
		if f.version != r.Version {
			sketch := []string{NameSimhash, NameMinwise}[f.version-1]
			v.want(f.value == 0, "%s is a setting of %s, and this is another sketch", f.name, sketch)
			continue
		}
		v.want(f.value >= f.lo && f.value <= f.hi, "%s is %d, must be %d to %d", f.name, f.value, f.lo, f.hi)
	}
}

// words checks the settings that select text and define words.
func (v *validation) words(r *Recipe) {
	v.want(slices.Contains([]string{"", "main", "auto"}, r.Extract),
		"extract is %.64q, must be main or auto, or absent for all text", r.Extract)
	v.oneOf("tokeniser", r.Tokeniser, TokeniserMixed)
	for _, err := range []error{token.CheckStopWords(r.StopWords), token.CheckStem(r.Stem)} {
		v.want(err == nil, "%w", err)
	}
	for _, entry := range r.resources() {
		err := entry.resource.validate()
		v.want(err == nil, "%s: %w", entry.name, err)
	}
}
