package simhash

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// resource writes a file and returns it as a resource.
func resource(t *testing.T, dir, name, data string) Resource {
	path := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(path, []byte(data), 0o666))
	sum := sha256.Sum256([]byte(data))
	return Resource{path, hex.EncodeToString(sum[:])}
}

// TestResources computes test vectors of settings of words.
func TestResources(t *testing.T) {
	dir := t.TempDir()
	table := resource(t, dir, "idf.tsv", "\ufefffeature\tfactor\r\n# comment\n*\t2\nthe\t0\nfox\t1e1\nlazy\t.129\n棕 色\t0.5\n")
	simhash := func(change func(*Recipe)) Recipe { r := Simhash(); change(&r); return r }
	minwise := func(change func(*Recipe)) Recipe { r := Minwise(); r.MinBins = 1; change(&r); return r }
	const text = "The quick fox, the lazy fox. 棕色狐"
	for name, c := range map[string]struct {
		r    Recipe
		want string
	}{
		"simhash": {simhash(func(r *Recipe) { r.IDF, r.MinFeatures = table, 5 }),
			"quick 16, fox 110, lazy 1, 棕 色 4, 色 狐 16"},
		"minwise": {minwise(func(r *Recipe) { r.IDF = table }), "quick 1600, fox 8000, lazy 104, 棕 200, 色 200, 棕 色 200, fox 棕 800, 狐 200, 色 狐 800"},
		"stop list": {simhash(func(r *Recipe) {
			r.StopList, r.MinFeatures = resource(t, dir, "stops", "the\n\n#x\nQuick\n狐\n"), 1
		}),
			"fox 11, lazy 8, 棕 色 8"},
		"dictionary": {simhash(func(r *Recipe) { r.Dictionary, r.MinFeatures = resource(t, dir, "dict", "棕色 12 n\n"), 1 }),
			"the 11, quick 8, fox 11, lazy 8, 棕色 8, 狐 8"},
		"language": {simhash(func(r *Recipe) { r.StopWords, r.Stem, r.MinFeatures = "en", "en", 1 }),
			"quick 8, fox 11, lazi 8, 棕 色 8, 色 狐 8"},
	} {
		f, err := New(c.r)
		must.Do(t, err)
		var got []string
		for _, feature := range f.NamedFeatures(text) {
			got = append(got, feature.Text+" "+strconv.Itoa(int(feature.Weight)))
		}
		slices.Sort(got)
		want := strings.Split(c.want, ", ")
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		checkExplanation(t, f, text)
	}
	r := Simhash()
	r.IDF, r.MinFeatures = table, 6
	f, err := New(r)
	must.Do(t, err)
	if _, features, ok := f.Fingerprint(text); features != 5 || ok {
		t.Errorf("%d features, %v: one with the factor 0 counts", features, ok)
	}
}

// TestResourceErrors checks that each fault of a file is named with its row.
func TestResourceErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		set        func(*Recipe, Resource)
		data, want string
	}{
		{setIDF, "the\t1\n", ": no row of *, with the factor of features that have none"},
		{setIDF, "*\t1\nthe 1\n", ", row 2: no tab"},
		{setIDF, "*\tNaN\n", `, row 1: the factor is "NaN", must be a number from 0 to 1000`},
		{setIDF, "*\t-1\n", `the factor is "-1"`},
		{setIDF, "*\t1001\n", `the factor is "1001"`},
		{setIDF, "*\tInf\n", `the factor is "Inf"`},
		{setIDF, "*\t1\t2\n", `the factor is "1\t2"`},
		{setIDF, "*\t\n", `the factor is ""`},
		{setIDF, "*\t1\n*\t2\n", "row 2: the second row of *"},
		{setIDF, "*\t1\nx\t2\n\nx\t2\n", `row 4: the second row of "x"`},
		{setIDF, "*\t1\nThe\t2\n", `row 2: "The" is not in normal form, in which it is "the"`},
		{setIDF, "*\t1\n...\t2\n", `row 2: "..." is not in normal form`},
		{setIDF, "*\t1\na b c\t2\n", `"a b c" is 3 tokens, and features of this recipe have 2 at most`},
		{setIDF, "*\t1\na  b\t2\n", "tokens"},
		{setIDF, "", ": has no rows"},
		{setIDF, "# x\n\n", ": has no rows"},
		{setIDF, "\x1f\x8b\x08\xff", "row 1: not text in UTF-8"},
		{setIDF, "*\t1\n" + strings.Repeat("x", 5000) + "\t1\n", "row 2: 5002 bytes, the limit of a row is 4096"},
		{setStops, "the\nin front\n", `row 2: "in front" is 2 words, must be one`},
		{setStops, "the\n--\n", `row 2: "--" has no letter or digit`},
		{setStops, "the\nx\x00\n", "row 2: not text"},
		{setStops, strings.Repeat("x\n", stopListRows+1), "row 131073: more than 131072 rows, which is the limit"},
		{setDictionary, strings.Repeat("字", 33), "row 1: "},
	} {
		r := Simhash()
		c.set(&r, resource(t, dir, "file", c.data))
		if _, err := New(r); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "file") {
			t.Errorf("%.20q: %v, want %s", c.data, err, c.want)
		}
	}
}

func setIDF(r *Recipe, f Resource)        { r.IDF = f }
func setStops(r *Recipe, f Resource)      { r.StopList = f }
func setDictionary(r *Recipe, f Resource) { r.Dictionary = f }

// TestResourceChanges checks that a recipe is its contents, wherever they are, and a file of other contents is refused.
func TestResourceChanges(t *testing.T) {
	dir := t.TempDir()
	was, now := resource(t, dir, "stops", "the\n"), resource(t, dir, "stops", "The\n")
	moved := resource(t, dir, "moved", "the\n")
	r := Simhash()
	r.StopList = was
	if _, err := New(r); !errors.Is(err, ErrMixed) || !strings.Contains(err.Error(), was.File+" has SHA-256 "+now.SHA256+
		", and the recipe was made with "+was.SHA256) {
		t.Error(err)
	}
	other, gone := r, r
	other.StopList, gone.StopList.File = moved, filepath.Join(dir, "gone")
	if _, err := New(gone); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), was.SHA256) {
		t.Error(err)
	}
	must.Do(t, Compatible("a", &r, "b", &other))
	_, err := New(other)
	must.Do(t, err)
	if _, err = New(r); err != nil {
		t.Errorf("not found where it was found before: %v", err)
	}
	other.StopList = now
	if err := Compatible("a", &r, "b", &other); !errors.Is(err, ErrMixed) || !strings.Contains(err.Error(),
		"stop_list is a file (SHA-256 "+was.SHA256) || strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if other.Name() != "" {
		t.Error(other.Name())
	}
	gone.StopList.SHA256 = strings.Repeat("0", 64)
	for path, want := range map[string]string{filepath.Join(dir, "gone"): "gone", dir: "is not a regular file"} {
		gone.StopList.File = path
		if _, err := New(gone); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestReadRecipe checks that paths are relative to the recipe's file, and digests are added.
func TestReadRecipe(t *testing.T) {
	dir := t.TempDir()
	stops := resource(t, dir, "stops", "the\n")
	resource(t, dir, "r.json", `{"version":2,"stop_list":{"file":"stops"},"stem":"en"}`)
	r, err := ReadRecipe(filepath.Join(dir, "r.json"))
	must.Do(t, err)
	want := Minwise()
	want.StopList, want.Stem = stops, "en"
	if r != want {
		t.Errorf("%s, want %s", r, want)
	}
	if again, err := ParseRecipe([]byte(r.String())); err != nil || again != r {
		t.Errorf("%s, %v", again, err)
	}
	for data, want := range map[string]string{
		`{"version":2,"stop_list":{"file":"gone"}}`:                "gone: no such file",
		`{"version":2,"stop_list":{"sha256":"00"}}`:                `stop_list: sha256 is "00", must be 64`,
		`{"version":2,"stop_list":{"file":"stops","sha256":"00"}}`: `stop_list: sha256 is "00", must be 64`,
		`{"version":2,"idf":{"sha256":"` + stops.SHA256 + `"}}`:    "idf: file is missing",
		`{"version":2,"idf":"idf.tsv"}`:                            "cannot unmarshal string",
		`{"version":2,"idf":{"file":"stops","digest":"1"}}`:        `unknown field "digest"`,
		`{"version":2,"stem":"zh"}`:                                `stem is "zh", must be absent or one of ar, da,`,
		`{"version":2,"tokeniser":"chars"}`:                        `tokeniser is "chars", must be one of mixed`,
	} {
		resource(t, dir, "r.json", data)
		if _, err := ReadRecipe(filepath.Join(dir, "r.json")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

// TestExplain checks that the bits equal the bits of the fingerprint, for every recipe, and for short and long texts.
func TestExplain(t *testing.T) {
	for _, name := range Names() {
		f := newFingerprinter(t, name)
		for _, c := range texts {
			checkExplanation(t, f, c.text)
		}
	}
	r := Simhash()
	r.WordShingle, r.CharShingle = 3, 16
	f, err := New(r)
	must.Do(t, err)
	for _, c := range texts {
		checkExplanation(t, f, c.text+" "+texts[0].text)
	}
}

func checkExplanation(t *testing.T, f *Fingerprinter, text string) {
	t.Helper()
	e, r := f.Explain(text), f.Recipe()
	var bits Fingerprint
	for j := range e.Bits {
		bits |= Fingerprint(e.Bits[j].Bit(j, &r)) << j
	}
	fp, _, ok := f.Fingerprint(text)
	if e.Fingerprint != fp || e.OK != ok || ok && bits != fp {
		t.Errorf("%s: %q: bits %s, explained %s, %v; fingerprint %s, %v", &r, text, bits, e.Fingerprint, e.OK, fp, ok)
	}
	if all := f.AppendFeatures(nil, text); len(all) != len(e.Features) {
		t.Errorf("%s: %q: %d features of %d have names", &r, text, len(e.Features), len(all))
	}
}

// FuzzLearnedFeatures checks that a table may have every feature of every text, with any stemmer.
func FuzzLearnedFeatures(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Add("ᏣᎳᎩ ꮳꮃꭹ rock'n'ed 3.ing isn't's _x_ ﬁne naïve u.s.ed زيــد T恤 ក្រុម a\u0301\u0345 ẞ's ǆ'ing ʼn")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		for _, stem := range []string{"", "ar", "de", "en", "es", "fr", "ru", "tr"} {
			r := Minwise()
			r.Stem, r.WordPairWeight = stem, 1
			r.Dictionary = resource(t, dir, "dictionary", "T恤\nក្រុម\n")
			p, err := New(r)
			must.Do(t, err)
			table := "*\t1\n"
			for _, feature := range p.NamedFeatures(text) {
				if len(feature.Text) <= IDFBytes {
					table += feature.Text + "\t1\n"
				}
			}
			r.IDF = resource(t, dir, "idf.tsv", table)
			if _, err = New(r); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
