package simhash

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/minio/highwayhash"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/oracle/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

func newFingerprinter(t testing.TB, name string) *Fingerprinter {
	t.Helper()
	r, err := RecipeByName(name)
	must.Do(t, err)
	f, err := New(r)
	must.Do(t, err)
	return f
}

// texts are the same few thoughts in several scripts.
var texts = []struct{ name, text string }{
	{"english",
		"A lighthouse keeper writes down the weather every evening: wind from the west, rain before dawn, and no ship in " +
			"sight."},
	{"english shouted",
		"A LIGHTHOUSE KEEPER WRITES DOWN THE WEATHER EVERY EVENING! Wind from the west; rain before dawn... and no ship " +
			"in sight?"},
	{"english, one word changed",
		"A lighthouse keeper writes down the weather every morning: wind from the west, rain before dawn, and no ship in " +
			"sight."},
	{"english, other",
		"Fresh bread needs only flour, water, salt and time; whoever hurries the dough will taste the haste in every slice."},
	{"german", "Der Leuchtturmwärter schreibt jeden Abend das Wetter auf: Westwind, Regen vor der Dämmerung und kein " +
		"Schiff in Sicht. STRASSE und Straße."},
	{"russian",
		"Смотритель маяка каждый вечер записывает погоду: ветер с запада, дождь перед рассветом, и ни одного корабля на " +
			"горизонте."},
	{"chinese",
		"灯塔看守人每天晚上记录天气：西风，黎明前有雨，海面上看不到一艘船。他已经这样写了三十年。"},
	{"chinese, other",
		"新鲜的面包只需要面粉、水、盐和时间；谁着急，谁就会在每一片里尝到匆忙的味道。"},
	{"japanese",
		"灯台守は毎晩、天気を書き留める。西の風、夜明け前の雨、そして船は一隻も見えない。コーヒーは冷めていた。"},
	{"thai", "ผู้ดูแลประภาคารจดบันทึกสภาพอากาศทุกเย็น ลมตะวันตก ฝนก่อนรุ่งสาง และไม่มีเรือสักลำ"},
	{"korean", "등대지기는 매일 저녁 날씨를 적는다. 서풍, 새벽 전의 비, 그리고 배는 한 척도 보이지 않는다. 그는 삼십 " +
		"년째 쓰고 있다."},
	{"mixed", "使用 Go 1.26 编译 ndd：run go build ./cmd/ndd，然后查看 README.md 的说明。"},
	{"wide forms",
		"使用 Ｇｏ １．２６ 编译 ｎｄｄ：ｒｕｎ ｇｏ ｂｕｉｌｄ ./cmd/ndd，然后查看 README.md 的说明。"},
	{"too few", "One, two, three."},
	{"nothing", ""},
	{"punctuation", "--- *** ... !!! 。。。"},
}

// TestGolden pins the named recipes, because users have files with their fingerprints. The recipe simhash is recipe
// version 1.
func TestGolden(t *testing.T) {
	for _, name := range Names() {
		f := newFingerprinter(t, name)
		var got strings.Builder
		for _, c := range texts {
			fp, n, ok := f.Fingerprint(c.text)
			fmt.Fprintf(&got, "%v %3d features, %-5v %s\n", fp, n, ok, c.name)
		}
		path := filepath.Join("testdata", name+".golden")
		if *update {
			must.Do(t, os.WriteFile(path, []byte(got.String()), 0o644))
		}
		if want := string(must.Read(t, path)); got.String() != want {
			t.Errorf("%s: got\n%swant\n%s", name, got.String(), want)
		}
	}
}

// TestDefinition checks that the fingerprints, hashes and constants in the package comment are those of the code.
func TestDefinition(t *testing.T) {
	var vectors []string
	for _, name := range Names() {
		line := name
		for _, text := range []string{"The quick brown fox jumps over the lazy dog near the river bank.",
			"敏捷的棕色狐狸跳过了懒狗。กาแฟ ២៣ ᏣᎳᎩ ﬁne naïve isn't 3.14"} {
			fp, _, _ := newFingerprinter(t, name).Fingerprint(text)
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
			fmt.Sprintf("%016x and %016x", hasher.Hash(&words[0]), hasher.Hash(&words[1])))
	})
	messages := strings.Join(strings.Fields(strings.ReplaceAll(string(must.Read(t, "doc.go")), "//", "")), " ")
	for _, v := range vectors {
		if !strings.Contains(messages, v) {
			t.Errorf("the package comment does not say %s", v)
		}
	}
}

func TestSameTextInOtherClothes(t *testing.T) {
	for _, name := range Names() {
		testSameTextInOtherClothes(t, newFingerprinter(t, name))
	}
}

func testSameTextInOtherClothes(t *testing.T, f *Fingerprinter) {
	for _, c := range texts {
		want, features, ok := f.Fingerprint(c.text)
		for name, other := range map[string]string{
			"NFD":             norm.NFD.String(c.text),
			"NFC":             norm.NFC.String(c.text),
			"NFKD":            norm.NFKD.String(c.text),
			"white space":     "\ufeff\n " + strings.ReplaceAll(c.text, " ", " \t\r\n\u00a0 ") + "\n",
			"punctuation":     strings.ReplaceAll(c.text, "。", "！ "),
			"soft hyphens":    strings.ReplaceAll(c.text, "t", "\u00adt"),
			"curly quote":     strings.ReplaceAll(c.text, "'", "’"),
			"invalid between": strings.ReplaceAll(c.text, " ", " \xff\xc3 "),
		} {
			if got, n, gotOK := f.Fingerprint(other); got != want || n != features || gotOK != ok {
				t.Errorf("%s as %s: %v, %d features, %v; want %v, %d, %v", c.name, name, got, n, gotOK, want, features, ok)
			}
		}
	}
	// A line break within Chinese is no boundary either.
	a, _, _ := f.Fingerprint(texts[6].text)
	b, _, _ := f.Fingerprint(strings.ReplaceAll(texts[6].text, "看", "\n看\u3000"))
	if a != b {
		t.Errorf("broken lines: %v and %v", a, b)
	}
}

func TestTooFewFeatures(t *testing.T) {
	for _, c := range []struct {
		recipe   string
		text     string
		features int
		ok       bool
	}{
		{NameSimhash, "", 0, false},
		{NameSimhash, strings.Repeat("again ", 1000), 1, false},
		{NameSimhash, "one two three four five six seven", 7, false},
		{NameSimhash, "one two three four five six seven eight", 8, true},
		{NameSimhash, "一二三四五六七八", 7, false},
		{NameSimhash, "一二三四五六七八九", 8, true},
		{NameSimhash, "一 one 二 two 三 three 四 four", 8, true},
		{NameMinwise, "", 0, false},
		{NameMinwise, strings.Repeat("again ", 1000), 1, false},
		{NameMinwise, "one two three four five six seven eight", 6, false}, // eight features in six bins
		{NameMinwise, "one two three four five six seven eight nine", 7, true},
		{NameMinwise, "一二三", 5, false},
		{NameMinwise, "一二三四", 7, true}, // four characters and three pairs
		{NameMinwise, "一 one 二 two 三", 8, true},
	} {
		fp, n, ok := newFingerprinter(t, c.recipe).Fingerprint(c.text)
		if n != c.features || ok != c.ok || !ok && fp != 0 {
			t.Errorf("%s: %.40q: %v, %d features, ok %v", c.recipe, c.text, fp, n, ok)
		}
	}
}

// featuresBySpecification makes the features of a text with the real shingler, from tokens that it hashes one by one.
func featuresBySpecification(r Recipe, text string) *[2]counter {
	f, err := New(r)
	if err != nil {
		panic(err)
	}
	key, _ := hex.DecodeString(r.Key)
	f.ballot.begin()
	f.scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			t := &tokens[i]
			f.ballot.shingles.push(highwayhash.Sum64(f.scanner.AppendText(nil, t), key), t.Kind)
		}
	})
	f.ballot.shingles.endRun()
	return &f.ballot.counts
}

// TestHistoryDoesNotMatter checks that the result of a Fingerprinter does not depend on earlier texts, with shingles of
// one word or more. Several Fingerprinters at the same time do not affect each other.
func TestHistoryDoesNotMatter(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {1, 2}, {3, 3}} {
		r := Simhash()
		r.WordShingle, r.CharShingle, r.MinFeatures = n[0], n[1], 1
		rapid.Check(t, func(t *rapid.T) {
			words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a bb ccc it's 3.14 é straße 中 文字 がか Ünïcödé "+
				"verylongwordwithmanyletters sixteenletterwrd seventeenletterwd x_y")), 0, 60)
			used, err := New(r)
			must.Do(t, err)
			for range 4 {
				text := strings.Join(words.Draw(t, "words"), " ")
				fresh, _ := New(r)
				a, an, aok := used.Fingerprint(text)
				b, bn, bok := fresh.Fingerprint(text)
				if a != b || an != bn || aok != bok {
					t.Fatalf("%q: %v with a history, %v without", text, a, b)
				}
				// Against the specification and the oracle of the votes.
				spec := featuresBySpecification(r, text)
				weigh(spec[token.Word].times, r.WordWeights)
				weigh(spec[token.Char].times, r.CharWeights)
				hashes := slices.Concat(spec[0].hashes, spec[1].hashes)
				weights := slices.Concat(spec[0].times, spec[1].times)
				if want := sumOracle(hashes, weights); aok && a != want {
					t.Fatalf("%q: %v, by the specification %v", text, a, want)
				}
			}
		})
	}
}

// TestCounter checks that a text leaves nothing to the next one, also after the table has grown, and that a count does
// not wrap around.
func TestCounter(t *testing.T) {
	f := newFingerprinter(t, NameSimhash)
	want, _, _ := f.Fingerprint(texts[0].text)
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprint(&long, "w", i, " ")
	}
	for _, text := range []string{texts[3].text, long.String(), long.String(), texts[3].text} {
		f.Fingerprint(text)
		if got, _, _ := f.Fingerprint(texts[0].text); got != want {
			t.Fatalf("%v after %.20s, want %v", got, text, want)
		}
	}
	c := counter{}
	c.reset()
	c.add(5)
	c.times[0] = ^uint32(0)
	c.add(5)
	if c.times[0] != ^uint32(0) {
		t.Error("a count wrapped around")
	}
}

func TestWeights(t *testing.T) {
	for _, c := range []struct {
		weights string
		want    [6]uint32
	}{
		{WeightsTF, [6]uint32{8, 16, 24, 32, 800, 8 * (^uint32(0) / 8)}},
		{WeightsSqrtTF, [6]uint32{8, 11, 13, 16, 80, 8<<16 - 1}},
		{WeightsLogTF, [6]uint32{8, 16, 16, 24, 56, 256}},
		{WeightsBinary, [6]uint32{8, 8, 8, 8, 8, 8}},
	} {
		got := [6]uint32{1, 2, 3, 4, 100, ^uint32(0)}
		weigh(got[:], c.weights)
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.weights, got, c.want)
		}
	}
	for t64 := uint64(1); t64 < 1<<32; t64 = t64*5/4 + 1 {
		w := uint64(sqrtWeight(uint32(t64)))
		if w*w > 64*t64 || (w+1)*(w+1) <= 64*t64 {
			t.Fatalf("floor(8 sqrt(%d)) is not %d", t64, w)
		}
	}
}

// sumOracle is section 2 of the paper, word for word.
func sumOracle(hashes []uint64, weights []uint32) Fingerprint {
	var counters [64]int64
	for i, h := range hashes {
		w := int64(weights[i])
		for b := range counters {
			if h>>b&1 == 1 {
				counters[b] += w
			} else {
				counters[b] -= w
			}
		}
	}
	var f Fingerprint
	for b, c := range counters {
		if c > 0 {
			f |= 1 << b
		}
	}
	return f
}

// TestSum checks that ties are zeros, and weights count. Package asm compares the kernels of the votes with brute
// force.
func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few different hashes with many repeats make ties; sparse ones leave counters at zero.
		pool := rapid.SliceOfN(rapid.Uint64(), 1, 6).Draw(t, "pool")
		hashes := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 70).Draw(t, "hashes")
		weight := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32(), rapid.Just(^uint32(0)))
		weights := rapid.SliceOfN(weight, len(hashes), len(hashes)).Draw(t, "weights")
		n := len(hashes) / 3 // number of words
		got := elect(&counter{hashes: hashes[:n], times: weights[:n]}, &counter{hashes: hashes[n:], times: weights[n:]})
		if want := sumOracle(hashes, weights); got != want {
			t.Fatalf("weights %v: %v, want %v", weights, got, want)
		}
	})
}

// TestSketch checks that with a sketch, the fingerprint is the same, and sketches of near texts are near by every
// recipe.
func TestSketch(t *testing.T) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog near bank ", 2) + "敏捷的棕色狐狸跳过了懒狗，然后回家休息。"
	for _, name := range []string{NameMinwise, NameSimhash} {
		f := newFingerprinter(t, name)
		fp, n, ok := f.Fingerprint(text)
		withFP, withN, withOK, a := f.Sketch(text)
		_, _, _, b := f.Sketch(strings.ToUpper(text))
		_, _, _, c := f.Sketch("completely other words that nothing else has")
		if fp != withFP || n != withN || ok != withOK || a != b || a == c {
			t.Errorf("%s: %v, with a sketch %v; %x, %x", name, fp, withFP, a, b)
		}
		if again, _, _ := f.Fingerprint(text); again != fp {
			t.Errorf("%s: %v after %v", name, again, fp)
		}
	}
}

// BenchmarkSketch compares a fingerprint with a fingerprint and a sketch of the same text.
func BenchmarkSketch(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var chinese strings.Builder
	var words strings.Builder
	for words.Len() < 16<<10 {
		fmt.Fprintf(&words, "%s ", strconv.FormatUint(uint64(random.ExpFloat64()*5000)*7919, 36))
	}
	for chinese.Len() < 16<<10 {
		chinese.WriteRune(rune(0x4e00 + int(random.ExpFloat64()*400)))
	}
	english := words.String()
	for name, text := range map[string]string{"English": english, "Chinese": chinese.String()} {
		for _, size := range []int{1 << 10, 4 << 10, 16 << 10} {
			f := newFingerprinter(b, NameMinwise)
			part := strings.ToValidUTF8(text[:size], "")
			b.Run(fmt.Sprintf("text=%s/bytes=%d/fingerprint", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					f.Fingerprint(part)
				}
			})
			b.Run(fmt.Sprintf("text=%s/bytes=%d/sketch", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					f.Sketch(part)
				}
			})
		}
	}
}
