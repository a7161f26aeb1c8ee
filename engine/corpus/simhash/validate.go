package simhash

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ndd/engine/corpus/token"
)

// Validate returns an error that names the first field whose value this version of the package cannot honour, or nil.
func (r Recipe) Validate() error {
	if r.Version < 1 || r.Version > RecipeVersion {
		return fmt.Errorf("recipe: version is %d, this program knows versions 1 to %d", r.Version, RecipeVersion)
	}
	if r.Version == 1 {
		return firstError(r.validSimhash(), r.validCommon())
	}
	return firstError(r.validMinwise(), r.validCommon())
}

// validSimhash checks what only simhash recipes have, and that nothing else is there.
func (r Recipe) validSimhash() error {
	return firstError(
		oneOf("sketch", r.Sketch, ""),
		between("word_shingle", r.WordShingle, 1, maxShingle),
		between("char_shingle", r.CharShingle, 1, maxShingle),
		oneOf("word_weights", r.WordWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary),
		oneOf("char_weights", r.CharWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary),
		oneOf("hash", r.Hash, HashHighway),
		between("min_features", r.MinFeatures, 1, 1<<20),
		none("minwise", "word_weight", r.WordWeight),
		none("minwise", "char_weight", r.CharWeight),
		none("minwise", "char_pair_weight", r.CharPairWeight),
		none("minwise", "word_pair_weight", r.WordPairWeight),
		none("minwise", "min_bins", r.MinBins),
		none("minwise", "prints", r.Prints),
	)
}

// validMinwise checks what only minwise recipes have, and that nothing else is there.
func (r Recipe) validMinwise() error {
	return firstError(
		oneOf("sketch", r.Sketch, SketchMinwise),
		weight("word_weight", r.WordWeight, 1),
		weight("char_weight", r.CharWeight, 1),
		weight("char_pair_weight", r.CharPairWeight, 0),
		weight("word_pair_weight", r.WordPairWeight, 0),
		oneOf("hash", r.Hash, HashMum),
		between("min_bins", r.MinBins, 1, bins),
		validPrints(r.Prints),
		none("simhash", "word_shingle", r.WordShingle),
		none("simhash", "char_shingle", r.CharShingle),
		none("simhash", "word_weights", len(r.WordWeights)),
		none("simhash", "char_weights", len(r.CharWeights)),
		none("simhash", "min_features", r.MinFeatures),
	)
}

// validCommon checks what all recipes have.
func (r Recipe) validCommon() error {
	return firstError(
		validText(r),
		oneOf("tokeniser", r.Tokeniser, TokeniserMixed, TokeniserChars),
		validStopWords(r.StopWords),
		oneOf("normalisation", r.Normalisation, NormalisationNFKC),
		validKey(r.Key),
	)
}

// validText checks what is done to a text first, in the one form that equal recipes have.
func validText(r Recipe) error {
	drop, err := token.ParseDrop(r.Drop)
	switch {
	case err != nil:
		return fmt.Errorf("recipe: drop: %w", err)
	case drop.String() != r.Drop:
		return fmt.Errorf("recipe: drop is %.64q, must be written %q", r.Drop, drop)
	case r.Extract != "" && r.Extract != "main" && r.Extract != "auto":
		return fmt.Errorf("recipe: extract is %.64q, must be main or auto, or absent for all text", r.Extract)
	}
	return nil
}

func oneOf(field, value string, names ...string) error {
	if slices.Contains(names, value) {
		return nil
	}
	if names[0] == "" {
		return fmt.Errorf("recipe: %s is %.64q, must be absent in version 1, which is simhash", field, value)
	}
	return fmt.Errorf("recipe: %s is %.64q, must be one of %s", field, value, strings.Join(names, ", "))
}

func between(field string, value, lo, hi int) error {
	if value >= lo && value <= hi {
		return nil
	}
	return fmt.Errorf("recipe: %s is %d, must be %d to %d", field, value, lo, hi)
}

// weight wants a power of two up to 16, or 0 if that is allowed.
func weight(field string, value, least int) error {
	if value < least || value > 16 || value&(value-1) != 0 {
		return fmt.Errorf("recipe: %s is %d, must be %s1, 2, 4, 8 or 16", field, value, []string{"0, ", ""}[least])
	}
	return nil
}

// none wants a field that only another sketch has to be zero.
func none(sketch, field string, value int) error {
	if value != 0 {
		return fmt.Errorf("recipe: %s is a setting of %s, and this is another sketch", field, sketch)
	}
	return nil
}

// validPrints takes 0, which is one fingerprint, and 2.
func validPrints(n int) error {
	if n != 0 && n != 2 {
		return fmt.Errorf("recipe: prints is %d, must be 2, or absent for one fingerprint", n)
	}
	return nil
}

// validStopWords refuses a language that has no list.
func validStopWords(language string) error {
	if err := token.CheckStopWords(language); err != nil {
		return fmt.Errorf("recipe: %w", err)
	}
	return nil
}

// validKey wants exactly the 32 bytes of a HighwayHash key, in lower case so that equal keys are equal strings.
func validKey(key string) error {
	if len(key) != 64 || strings.ToLower(key) != key {
		return fmt.Errorf("recipe: key is %.80q, must be 64 lower-case hexadecimal digits", key)
	}
	if _, err := hex.DecodeString(key); err != nil {
		return fmt.Errorf("recipe: key: %w", err)
	}
	return nil
}

// firstError returns the first error that is one, or nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
