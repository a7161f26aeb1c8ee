package invented

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/shingle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// A genre writes texts by a template. Two texts of a template have the same constant words, and different values.
type genre struct {
	name   string
	write  func(words, values *author) string
	revise func(values *author, text string) string
	// The minimum percentages of near pairs that are found and of removals that are right, as means over keys.
	found, right float64
}

var genres = []genre{
	{"bot messages", (*author).botMessage, (*author).revised, 94.5, 99.5},
	{"API pages", (*author).apiPage, (*author).revised, 96.3, 100},
	{"labels in Chinese", label("zh"), (*author).revised, 99.8, 99.7},
	{"labels in Thai", label("th"), (*author).revised, 99.5, 99.5},
	{"labels in Japanese", label("ja"), (*author).revised, 99.4, 99.8},
	{"code with other values", (*author).source, (*author).revised, 98.4, 100},
	{"pages in other frames", (*author).framed, (*author).reframed, 98.8, 100},
	{"exam questions", (*author).question, (*author).revised, 98.6, 100},
}

func (a *author) noun() string { return zipf(a.random, a.stems, 2000) }

func (a *author) version() string {
	return fmt.Sprintf("%d.%d.%d", a.random.IntN(9), a.random.IntN(40), a.random.IntN(20))
}

// botMessage is about an update of a library.
func (a *author) botMessage(values *author) string {
	library, from, to := values.noun()+"-"+values.noun(), values.version(), values.version()
	return strings.NewReplacer("LIB", library, "FROM", from, "TO", to).Replace(`Bump LIB from FROM to TO

Bumps [LIB](https://code.example.org/` + values.noun() + `/LIB) from FROM to TO.
- [Release notes](https://code.example.org/` + values.noun() + `/LIB/releases)
- [Commits](https://code.example.org/LIB/compare/FROM...TO)

---
updated-dependencies:
- dependency-name: LIB
  dependency-type: direct:production
  update-type: version-update:semver-minor
...

Signed-off-by: updater[bot] <support@example.org>
`)
}

// apiPage describes the methods of a class.
func (a *author) apiPage(values *author) string {
	class := values.noun()
	var b strings.Builder
	fmt.Fprintf(&b, "Class %s\n\nThis class is part of package %s. It is safe for concurrent use.\n\n", class, values.noun())
	for range 4 + a.random.IntN(6) {
		method, argument := a.noun(), a.noun()
		fmt.Fprintf(&b, "%s.%s(%s %s)\n  Returns the %s of the %s, or an error if it does not exist.\n  Parameters:\n    %s: %s.\n"+
			"  See also: %s.\n\n", class, method, values.noun(), argument, values.noun(), class, argument,
			strings.Join(values.words(2+values.random.IntN(6)), " "), values.noun())
	}
	return b.String()
}

// label writes labels of goods in a script without spaces, with Latin names.
func label(language string) func(words, values *author) string {
	parts := map[string][]string{
		"zh": {"本产品的名称是 %s，由 %s 公司生产。", "使用前请仔细阅读说明书，并妥善保管以备查阅。", "如有疑问请联系客服人员，我们将尽快答复。",
			"保质期请见包装，请放在阴凉干燥的地方，避免阳光直射。", "请以收到的实物为准。"},
		"th": {"ชื่อสินค้า %s ผลิตโดยบริษัท %s ", "โปรดอ่านคู่มือก่อนใช้งานและเก็บไว้เพื่ออ้างอิง ", "หากมีข้อสงสัยโปรดติดต่อฝ่ายบริการลูกค้า ",
			"เก็บในที่แห้งและเย็น หลีกเลี่ยงแสงแดด ", "ควรบริโภคก่อนวันที่ระบุบนฉลาก "},
		"ja": {"製品名は %s、製造元は %s です。", "ご使用の前に取扱説明書をよくお読みください。", "ご不明な点はお客様相談室までお問い合わせください。",
			"直射日光を避けて涼しい場所に保存してください。", "実物と異なる場合があります。"},
	}[language]
	return func(words, values *author) string {
		title := func() string {
			var names []string
			for range 2 + values.random.IntN(3) {
				names = append(names, values.noun())
			}
			return strings.Join(names, " ")
		}
		order := words.random.Perm(len(parts) - 1)
		text := fmt.Sprintf(parts[0], title(), title())
		for _, i := range order[:2+words.random.IntN(3)] {
			text += parts[i+1]
		}
		return text
	}
}

// source is a file with values.
func (a *author) source(values *author) string {
	var b strings.Builder
	for range 20 + a.random.IntN(60) {
		switch a.random.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "\t%s.%s = %s;\n", a.noun(), a.noun(), values.number())
		case 1:
			fmt.Fprintf(&b, "\tif (%s > %s) return %s;\n", a.noun(), values.number(), values.number())
		default:
			fmt.Fprintf(&b, "\t%s(&%s, 0x%x, %s);\n", a.noun(), a.noun(), values.random.IntN(1<<16), values.number())
		}
	}
	return b.String()
}

// framed is a short text with a menu before it and a footer after it.
func (a *author) framed(values *author) string {
	return a.frame(values.write(values.text(60+values.random.IntN(300))), 30+a.random.IntN(30))
}

// reframed returns a text with a frame more, of a tenth to a fifth of it.
func (a *author) reframed(text string) string {
	return a.frame(text, max(3, len(strings.Fields(text))*(5+a.random.IntN(6))/100))
}

// frame returns a text between two rows of words.
func (a *author) frame(text string, words int) string {
	return strings.Join(a.words(words), " ") + "\n" + text + "\n" + strings.Join(a.words(words), " ")
}

// question has a subject and four answers.
func (a *author) question(values *author) string {
	subject := values.noun() + " " + values.noun()
	text := "Which of the following statements about " + subject + " is correct? Choose the best answer and explain it in a sentence."
	for _, letter := range "ABCD" {
		text += fmt.Sprintf("\n%c. The %s %s", letter, subject, strings.Join(values.words(3+a.random.IntN(6)), " "))
	}
	return text
}

// revised returns a text with a line more, with a frame, or with other words.
func (a *author) revised(text string) string {
	switch a.random.IntN(3) {
	case 0:
		return text + "\n" + strings.Join(a.words(1+a.random.IntN(1+len(text)/60)), " ")
	case 1:
		return a.frame(text, 1+a.random.IntN(1+len(text)/80))
	}
	for range 1 + a.random.IntN(1+len(text)/300) {
		fields := strings.Fields(text)
		text = strings.Replace(text, fields[a.random.IntN(len(fields))], a.word(), 1)
	}
	return text
}

// A textPair has two texts of a genre, their exact similarity, and the values that dedup compares with a key.
type textPair struct {
	one, other       string
	exact, contained float64

	distance int
	estimate float64
}

func (p *textPair) isRemoved(k int) bool {
	return p.distance <= k && p.estimate >= sketch.DefaultThreshold
}

func (p *textPair) isNear() bool { return p.exact >= 0.8 }

func (p *textPair) isRight() bool { return p.exact >= 0.7 || p.contained >= 0.9 }

// pairings returns near pairs of a genre, and pairs of one template with other values.
func (g *genre) pairings(t *testing.T, seed uint64, english *vocabulary) (all []textPair) {
	sets := shingle.New(t.Context())
	add := func(one, other string) {
		setA, setB := sets.Append(nil, one), sets.Append(nil, other)
		all = append(all, textPair{one: one, other: other, exact: shingle.Jaccard(setA, setB),
			contained: float64(shingle.Shared(setA, setB)) / float64(min(len(setA), len(setB)))})
	}
	for i := range uint64(400) {
		values := newAuthor(english, english, rand.New(rand.NewPCG(seed, i)))
		write := func() string {
			return g.write(newAuthor(english, english, rand.New(rand.NewPCG(seed, i/20))), values)
		}
		one, other := write(), write()
		add(one, g.revise(values, one))
		add(one, other)
	}
	return all
}

// withKey sets how dedup sees the pairings with one of the keys.
func withKey(t *testing.T, all []textPair, key int) {
	recipe := simhash.Default()
	recipe.Key = fmt.Sprintf("%x", sha256.Sum256([]byte(strconv.Itoa(key))))
	printer, err := simhash.New(recipe)
	must.Do(t, err)
	for i := range all {
		p := &all[i]
		a, _, _, sketchA := printer.Sketch(p.one)
		b, _, _, sketchB := printer.Sketch(p.other)
		p.distance = simhash.Distance(a, b)
		p.estimate, _ = sketch.Estimate(&sketchA, &sketchB)
	}
}

// A spread has the shares of pairings by key, in percent.
type spread []float64

// add adds a share: of the pairings for which of is true, those for which are is true, too.
func (s *spread) add(all []textPair, of, are func(*textPair) bool) {
	share, n := 0.0, 0
	for i := range all {
		if of(&all[i]) {
			n++
			if are(&all[i]) {
				share++
			}
		}
	}
	*s = append(*s, 100*share/float64(max(1, n)))
}

func (s spread) mean() (sum float64) {
	for _, share := range s {
		sum += share / float64(len(s))
	}
	return sum
}

func (s spread) String() string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", s.mean(), slices.Min(s), slices.Max(s))
}

// TestGenres checks that one document of each near pair of invented genres is removed, and the removed document
// resembles the kept one. Pairs have fingerprints within k, and the estimates of sketches decide with the defaults of
// dedup. The shares are means over keys. The table of 'ndd help recipes' has the shares of eight keys: go test
// ./bench/invented -run TestGenres -v -long.
func TestGenres(t *testing.T) {
	english := newVocabulary(&languages[0])
	for i, g := range genres {
		all := g.pairings(t, uint64(i), english)
		var found, band, right [9]spread
		for key := range long.Or(2, 8) {
			withKey(t, all, key)
			for _, k := range []int{6, 7, 8} {
				isRemoved := func(p *textPair) bool { return p.isRemoved(k) }
				found[k].add(all, (*textPair).isNear, isRemoved)
				band[k].add(all, func(p *textPair) bool { return p.isNear() && p.exact < 0.85 }, isRemoved)
				right[k].add(all, isRemoved, (*textPair).isRight)
			}
		}
		for _, k := range []int{6, 7, 8} {
			t.Logf("%s, k = %d: near pairs found %v, below .85 %v; removals right %v", g.name, k, found[k], band[k], right[k])
		}
		if found[8].mean() < g.found || right[8].mean() < g.right {
			t.Errorf("%s: of near pairs found %v, want %g; removals right %v, want %g", g.name, found[8], g.found, right[8], g.right)
		}
	}
}
