package simhash

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestParseRecipe checks that recipes round-trip through their JSON, that absent fields have their defaults, and that
// the JSON of version 1 does not change.
func TestParseRecipe(t *testing.T) {
	changed, filled := Simhash(), Simhash()
	changed.WordShingle, changed.StopWords, changed.CharWeights = 3, "en", WeightsLogTF
	filled.WordShingle = 4
	const version1 = `{"version":1,"tokeniser":"mixed","word_shingle":1,"char_shingle":2,"word_weights":"sqrt-tf",` +
		`"char_weights":"tf","stop_words":"","normalisation":"nfkc-fold","hash":"highwayhash-64",` +
		`"key":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f","min_features":8}`
	for in, want := range map[string]Recipe{
		changed.String():                   changed,
		`{"version":1,"word_shingle":4}`:   filled,
		version1:                           Simhash(),
		`{"version":2,"sketch":"minwise"}`: Minwise(),
	} {
		if got, err := ParseRecipe([]byte(in)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	if got := Simhash().String(); got != version1 {
		t.Error(got)
	}
}

func TestParseRecipeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                       "EOF",
		`{}`:                                     "version is 0, this program knows versions 1 to 2",
		`{"version":3}`:                          "version is 3, this program knows versions 1 to 2",
		`{"version":1,"sketch":"minwise"}`:       `sketch is "minwise", must be absent in version 1, which is simhash`,
		`{"version":1,"word_weight":4}`:          "word_weight is a setting of minwise, and this is another sketch",
		`{"version":1,"min_bins":7}`:             "min_bins is a setting of minwise",
		`{"version":2,"sketch":"simhash"}`:       `sketch is "simhash", must be one of minwise`,
		`{"version":2,"word_shingle":2}`:         "word_shingle is a setting of simhash, and this is another sketch",
		`{"version":2,"char_weights":"tf"}`:      "char_weights is a setting of simhash",
		`{"version":2,"word_weight":0}`:          "word_weight is 0, must be 1 to 16",
		`{"version":2,"char_weight":32}`:         "char_weight is 32, must be",
		`{"version":2,"number_weight":4}`:        `unknown field "number_weight"`,
		`{"version":2,"word_pair_weight":17}`:    "word_pair_weight is 17, must be 0 to 16",
		`{"version":2,"sketch":""}`:              `sketch is "", must be one of minwise`,
		`{"version":2,"min_bins":65}`:            "min_bins is 65, must be 1 to 64",
		`{"version":2,"hash":"highwayhash-64"}`:  `hash is "highwayhash-64", must be one of mum-64`,
		`{"version":2,"key":"00"}`:               `key is "00", must be 64`,
		`{"version":1,"shingle":2}`:              `unknown field "shingle"`,
		`{"version":1}{"version":1}`:             "data after the JSON object, at byte",
		`{"version":1,"word_shingle":"2"}`:       "into Go struct field Recipe.word_shingle of type int",
		`{"version":1,"word_shingle":0}`:         "word_shingle is 0, must be 1 to 16",
		`{"version":1,"char_shingle":17}`:        "char_shingle is 17, must be 1 to 16",
		`{"version":1,"min_features":0}`:         "min_features is 0",
		`{"version":1,"tokeniser":"x"}`:          `tokeniser is "x", must be one of mixed`,
		`{"version":1,"word_weights":"idf"}`:     `word_weights is "idf", must be one of tf, sqrt-tf, log-tf, binary`,
		`{"version":1,"char_weights":""}`:        `char_weights is ""`,
		`{"version":1,"stop_words":"xx"}`:        `stop_words is "xx", must be empty or one of ar`,
		`{"version":1,"normalisation":"nfc"}`:    `normalisation is "nfc"`,
		`{"version":1,"hash":"fnv"}`:             `hash is "fnv", must be one of highwayhash-64`,
		`{"version":1,"key":"00"}`:               `key is "00", must be 64`,
		`{"version":1,"key":"` + key('G') + `"}`: "key: encoding/hex",
		`{"version":1,"key":"` + key('A') + `"}`: "must be 64 lower-case",
	} {
		if r, err := ParseRecipe([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want an error with %q", text, r, err, want)
		}
	}
}

func key(last byte) string {
	b := []byte(PublishedKey)
	b[63] = last
	if last == 'G' {
		b[63] = 'g' // lower case, and no digit
	}
	return string(b)
}

// TestCompatible changes every field by reflection, so that a new field cannot be forgotten.
func TestCompatible(t *testing.T) {
	ours := Simhash()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Recipe]()) {
		if f.Anonymous {
			continue
		}
		ours, other := ours, ours
		if f.Name == "Private" {
			ours.Key, other.Key = "private", "private" // a private key is not shown
		}
		switch v := reflect.ValueOf(&other).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.String:
			v.SetString("other")
		case reflect.Struct:
			v.Set(reflect.ValueOf(Resource{SHA256: "other"}))
		case reflect.Bool:
			v.SetBool(true)
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		err := Compatible("x", &ours, "y", &other)
		if !errors.Is(err, ErrMixed) || !strings.Contains(err.Error(), ": "+name+" is ") || strings.Contains(err.Error(),
			";") {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	other, minwise, same := ours, Minwise(), ours
	other.WordShingle, other.CharWeights = 2, WeightsBinary
	for _, c := range []struct {
		a, b *Recipe
		want string
	}{
		{nil, nil, ""},
		{&ours, &same, ""},
		{&ours, nil, "y has raw fingerprints without a recipe, x has a recipe"},
		{nil, &ours, "x has raw fingerprints without a recipe, y has a recipe"},
		{&minwise, &ours, "x is of recipe minwise, y of recipe simhash"},
		{&ours, &other, `the recipes of x and y differ: word_shingle is 1 and 2; char_weights is "tf" and "binary"`},
	} {
		err := Compatible("x", c.a, "y", c.b)
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, ErrMixed) ||
			err.Error() != ErrMixed.Error()+": "+c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestRecipeChangesFingerprints checks that every setting matters.
func TestRecipeChangesFingerprints(t *testing.T) {
	text := strings.Repeat("The house is on the hill, and the hill is in the rain. 房子在山上，山在雨中。", 2) +
		" One more house."
	seen := map[Fingerprint]string{}
	for name, change := range map[string]func(*Recipe){
		"default":      func(*Recipe) {},
		"word_shingle": func(r *Recipe) { r.WordShingle = 2 },
		"char_shingle": func(r *Recipe) { r.CharShingle = 3 },
		"word_weights": func(r *Recipe) { r.WordWeights = WeightsBinary },
		"char_weights": func(r *Recipe) { r.CharWeights = WeightsBinary },
		"stop_words":   func(r *Recipe) { r.StopWords = "en" },
		"key":          func(r *Recipe) { r.Key = key('0') },
	} {
		r := Simhash()
		change(&r)
		f, err := New(r)
		must.Do(t, err)
		fp, _, ok := f.Fingerprint(text)
		if before, twice := seen[fp]; twice || !ok {
			t.Errorf("%s gives %v, ok %v, as %s does", name, fp, ok, before)
		}
		seen[fp] = name
	}
}

// TestNames checks that each name belongs to one recipe, the default recipe is first, and every recipe round-trips
// through JSON.
func TestNames(t *testing.T) {
	for _, name := range Names() {
		r, err := RecipeByName(name)
		if err != nil || r.Name() != name || r.Validate() != nil {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		if again, err := ParseRecipe([]byte(r.String())); err != nil || again != r {
			t.Errorf("%s: %v, %v", name, again, err)
		}
		other := r
		other.Key = key('0')
		if other.Name() != "" {
			t.Errorf("%s with another key is called %s", name, other.Name())
		}
	}
	if first, _ := RecipeByName(Names()[0]); first != Default() {
		t.Error("the default recipe is not the first")
	}
	if _, err := RecipeByName("minhash"); err == nil ||
		err.Error() != `no recipe is called "minhash": there are minwise, minwise-pairs, simhash` {
		t.Errorf("%v", err)
	}
}
