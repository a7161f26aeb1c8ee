package copies

import (
	"context"
	"errors"
	"fmt"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/copies/spotsigs"
	"example.org/ndd/engine/copies/winnow"
	"example.org/ndd/engine/corpus/simhash"
)

// A Recipe describes how the signatures of a file were made. Only signatures with the same recipe are comparable.
type Recipe struct {
	Version     int    `json:"version"`
	Method      Method `json:"method"`
	MinFeatures int    `json:"min_features,omitempty"` // 0: the default of the method
	Bags        bool   `json:"bags,omitempty"`         // signatures count as often as they occur

	Ends string `json:"ends"` // ccdet

	StopLists     // spotsigs
	Distance  int `json:"distance"`
	Chain     int `json:"chain"`

	Words  int `json:"words"` // winnow
	Chars  int `json:"chars"`
	Window int `json:"window"`

	ShingleWords int `json:"shingle_words"` // shingles
	ShingleChars int `json:"shingle_chars"`
}

// StopLists identify the lists of stop words of spotsigs.
type StopLists struct {
	Lists       string   `json:"lists"`        // name
	Digest      string   `json:"lists_digest"` // digest of the words
	Antecedents []uint64 `json:"antecedents,omitempty"`
	Stops       []uint64 `json:"stops,omitempty"` // hashes of the words, unless the program has lists with this name
}

// recipeVersion is the version of the tokeniser and of the hashes of signatures.
const recipeVersion = 2

// Recipe returns the recipe of signatures with these options.
func (o Options) Recipe() Recipe {
	o.complete()
	r := Recipe{Version: recipeVersion, Method: o.Method, MinFeatures: o.MinFeatures, Bags: o.Bags, Ends: o.Ends,
		Distance: o.SpotSigs.Distance, Chain: o.SpotSigs.Chain, Words: winnow.Words, Chars: winnow.Chars, Window: winnow.Window,
		ShingleWords: shingleWords, ShingleChars: shingleChars}
	l := o.SpotSigs.Lists
	antecedents, stops := l.Hashes()
	r.StopLists = StopLists{Lists: l.Name(), Digest: digest(antecedents, stops)}
	if known, err := spotsigs.ByName(l.Name()); err != nil || known != l {
		r.Antecedents, r.Stops = antecedents, stops
	}
	return r
}

// Options returns the options that make signatures by the recipe. It returns an error if this program makes others.
func (r *Recipe) Options() (o Options, err error) {
	if r.Version != recipeVersion {
		return o, fmt.Errorf("signatures of version %d: this program makes version %d", r.Version, recipeVersion)
	}
	if r.Words != winnow.Words || r.Chars != winnow.Chars || r.Window != winnow.Window {
		return o, fmt.Errorf("winnowing of %d words, %d characters, windows of %d: this program has %d, %d, %d",
			r.Words, r.Chars, r.Window, winnow.Words, winnow.Chars, winnow.Window)
	}
	if r.ShingleWords != shingleWords || r.ShingleChars != shingleChars {
		return o, fmt.Errorf("shingles of %d words, %d characters: this program has %d, %d", r.ShingleWords,
			r.ShingleChars, shingleWords, shingleChars)
	}
	if _, err := ParseMethod(string(r.Method)); err != nil {
		return o, fmt.Errorf("method %q: %w", r.Method, err)
	}
	lists, err := r.read()
	if err != nil {
		return o, err
	}
	o = Options{Method: r.Method, MinFeatures: r.MinFeatures, Bags: r.Bags, Ends: r.Ends,
		SpotSigs: spotsigs.Options{Lists: lists, Distance: r.Distance, Chain: r.Chain}}
	_, err = NewSigner(context.Background(), o)
	return o, err
}

// read returns the lists. It returns an error if this program has other lists with their name.
func (s *StopLists) read() (lists *spotsigs.Lists, err error) {
	lists = spotsigs.FromHashes(s.Lists, s.Antecedents, s.Stops)
	if len(s.Antecedents) == 0 {
		if lists, err = spotsigs.ByName(s.Lists); err != nil {
			return nil, err
		}
	}
	if d := digest(lists.Hashes()); d != s.Digest {
		return nil, fmt.Errorf("lists of stop words %s of digest %s, not %s: another version of the program made them",
			s.Lists, d, s.Digest)
	}
	return lists, nil
}

// digest returns a digest of the hashes of words.
func digest(antecedents, stops []uint64) string {
	h := uint64(0)
	for _, words := range [][]uint64{antecedents, stops} {
		h = signature.Fold(h, uint64(len(words)))
		for _, w := range words {
			h = signature.Fold(h, w)
		}
	}
	return fmt.Sprintf("%016x", h)
}

// ErrMixed reports documents that cannot be compared, because their signatures have different recipes.
var ErrMixed = errors.New("signatures cannot be compared")

// Compatible returns nil if two recipes are the same. Else it returns an error that names all differences and wraps
// [ErrMixed].
func (r Recipe) Compatible(name string, other Recipe, otherName string) error {
	for _, x := range []*Recipe{&r, &other} {
		x.Antecedents, x.Stops = nil, nil // the digest is enough
	}
	if d := simhash.Difference(r, other); d != "" {
		return fmt.Errorf("%w: the recipes of %s and %s differ: %s", ErrMixed, name, otherName, d)
	}
	return nil
}
