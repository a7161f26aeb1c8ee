package simhash

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRecipeRoundTrip(t *testing.T) {
	want := Default()
	want.WordShingle, want.StopWords, want.CharWeights = 3, "en", WeightsLogTF
	got, err := ParseRecipe([]byte(want.String()))
	if err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestParseRecipeFillsInDefaults(t *testing.T) {
	got, err := ParseRecipe([]byte(`{"version":1,"word_shingle":4}`))
	want := Default()
	want.WordShingle = 4
	if err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestParseRecipeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                       "EOF",
		`{}`:                                     "version is 0, this program knows version 1",
		`{"version":2}`:                          "version is 2, this program knows version 1",
		`{"version":1,"shingle":2}`:              `unknown field "shingle"`,
		`{"version":1}{"version":1}`:             "data after the JSON object, at byte",
		`{"version":1,"word_shingle":"2"}`:       "word_shingle",
		`{"version":1,"word_shingle":0}`:         "word_shingle is 0, must be 1 to 16",
		`{"version":1,"char_shingle":17}`:        "char_shingle is 17, must be 1 to 16",
		`{"version":1,"min_features":0}`:         "min_features is 0",
		`{"version":1,"tokeniser":"x"}`:          `tokeniser is "x", must be one of mixed, chars`,
		`{"version":1,"word_weights":"idf"}`:     `word_weights is "idf", must be one of tf, sqrt-tf, log-tf, binary`,
		`{"version":1,"char_weights":""}`:        `char_weights is ""`,
		`{"version":1,"stop_words":"xx"}`:        `stop_words is "xx", must be empty or one of en`,
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

// TestCheckNamesEveryField changes the fields one by one, whatever they are, so that a new one cannot be
// forgotten in Check.
func TestCheckNamesEveryField(t *testing.T) {
	if err := Default().Check(Default()); err != nil {
		t.Fatal(err)
	}
	typ := reflect.TypeFor[Recipe]()
	for i := range typ.NumField() {
		other := Default()
		switch v := reflect.ValueOf(&other).Elem().Field(i); v.Kind() {
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.String:
			v.SetString("other")
		}
		name := typ.Field(i).Tag.Get("json")
		err := Default().Check(other)
		if !errors.Is(err, ErrMixed) || !strings.Contains(err.Error(), ": "+name+" is ") || strings.Contains(err.Error(), ";") {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	other := Default()
	other.WordShingle, other.CharShingle = 2, 5
	want := "fingerprints of different recipes cannot be mixed: word_shingle is 1 here and 2 there; char_shingle is 2 here and 5 there"
	if err := Default().Check(other); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestNewRefusesABadRecipe(t *testing.T) {
	if f, err := New(Recipe{}); err == nil || f != nil {
		t.Errorf("%v, %v", f, err)
	}
}

// TestRecipeChangesFingerprints: every setting matters.
func TestRecipeChangesFingerprints(t *testing.T) {
	text := strings.Repeat("The house is on the hill, and the hill is in the rain. 房子在山上，山在雨中。", 2) + " One more house."
	seen := map[Fingerprint]string{}
	for name, change := range map[string]func(*Recipe){
		"default":      func(*Recipe) {},
		"tokeniser":    func(r *Recipe) { r.Tokeniser = TokeniserChars },
		"word_shingle": func(r *Recipe) { r.WordShingle = 2 },
		"char_shingle": func(r *Recipe) { r.CharShingle = 3 },
		"word_weights": func(r *Recipe) { r.WordWeights = WeightsBinary },
		"char_weights": func(r *Recipe) { r.CharWeights = WeightsBinary },
		"stop_words":   func(r *Recipe) { r.StopWords = "en" },
		"key":          func(r *Recipe) { r.Key = key('0') },
	} {
		r := Default()
		change(&r)
		f, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		fp, _, ok := f.Fingerprint(text)
		if before, twice := seen[fp]; twice || !ok {
			t.Errorf("%s gives %v, ok %v, as %s does", name, fp, ok, before)
		}
		seen[fp] = name
	}
	var r Recipe
	if err := json.Unmarshal([]byte(Default().String()), &r); err != nil || r != Default() {
		t.Errorf("%v %v", r, err)
	}
}
