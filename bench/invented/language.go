package invented

import (
	"math"
	"math/rand/v2"
	"strings"
)

// A language has its most frequent words, and the letters or syllables from which all other words are invented. Every
// list begins with the most frequent entry; the frequency is inversely proportional to the rank.
type language struct {
	name               string
	separator, stop    string // separator is between words; stop is after a sentence
	common             string
	prefixes, suffixes string // prefixes and suffixes of invented words; a leading blank means none
	shapes             []shape
}

// A shape describes invented words of syllablesMin to syllablesMax syllables. A syllable is a pattern and a coda. A
// unit replaces the hyphen of the pattern. The lists are separated by blanks. Units without blanks are single
// characters. The rare characters from rareFirst on are also units.
type shape struct {
	syllablesMin, syllablesMax int
	units, patterns, codas     string
	rareFirst                  rune
	rare                       int
}

// A vocabulary is the word lists of a language.
type vocabulary struct {
	*language
	common, prefixes, suffixes, stems []string
}

// stemCount is the number of invented words of a language.
const stemCount = 8000

func newVocabulary(l *language) *vocabulary {
	v := &vocabulary{language: l, common: strings.Fields(l.common), prefixes: strings.Split(l.prefixes, " "),
		suffixes: strings.Split(l.suffixes, " ")}
	var shapes []func(r *rand.Rand) string
	for _, s := range l.shapes {
		shapes = append(shapes, s.inventor())
	}
	r := rand.New(rand.NewPCG(30, 0))
	for range stemCount {
		v.stems = append(v.stems, zipf(r, shapes, 2)(r))
	}
	return v
}

// inventor returns a function that invents words of a shape.
func (s *shape) inventor() func(r *rand.Rand) string {
	units, patterns, codas := strings.Fields(s.units), strings.Split(s.patterns, " "), strings.Split(s.codas, " ")
	if !strings.Contains(s.units, " ") {
		units = strings.Split(strings.Join(units, ""), "")
	}
	for i := range s.rare {
		units = append(units, string(s.rareFirst+rune(i*7919%11000)))
	}
	return func(r *rand.Rand) (word string) {
		for range s.syllablesMin + r.IntN(s.syllablesMax-s.syllablesMin+1) {
			word += strings.ReplaceAll(zipf(r, patterns, 3), "-", zipf(r, units, 12)) + zipf(r, codas, 1)
		}
		return word
	}
}

// zipf draws an entry of a list; its frequency is inversely proportional to its rank plus q.
func zipf[T any](r *rand.Rand, list []T, q float64) T {
	rank := int(q*math.Pow(1+float64(len(list))/q, r.Float64()) - q)
	return list[min(rank, len(list)-1)]
}

var languages = []language{
	{"en", " ", ". ", `the of and to in a is that for it as was with be by on not but at are this have from or had an
		they which one you were all there would their we been has when who will no more if out so what its about than into
		them can only other new some could these two may first then do any now over such even most made after also did
		many before must through where much should because each those how very`, "", " s ed ing ly er", []shape{{syllablesMin: 1, syllablesMax: 3,
		units:    "t s c r m d p l b f n h g w v st pr tr ch th pl gr sh br fl cl k j sp y",
		patterns: "-e -a -i -o -u -ea -ou -ai -y", codas: " n r t s l d m nt st ct ng"}}},
	{"ar", " ", ". ", `في من على إلى أن عن التي الذي هذا هذه مع ما كان بعد ذلك لا كما قد بين كل قبل أو هو هي لم حيث
		وقال خلال غير أكثر عند ولا أي إن منذ عام حتى يكون كانت`, " ال و ب وال", " ة ات ها ين", []shape{{syllablesMin: 2, syllablesMax: 4,
		units: "م ل ت ن ر ع ب س د ح ق ف ك ج ش ه خ ص ط ز ذ غ ض و ي", patterns: "- -ا -ي -و"}}},
	{"zh", "", "。", `的 了 在 是 和 有 不 也 为 这 将 对 等 中 上 就 与 他 我们 到 说 要 及 以 一个 可以 但 都 从 而 于 并 被 年 个
		更 已 还 进行 他们 通过 没有 自己`, "", "", []shape{{syllablesMin: 1, syllablesMax: 3, patterns: "-", units: "一人大国年出生会自家学对子地时道可里后小心多天" +
		"能好日起发成事作当想看文无开手用主行方前所本见经头面公同老动长知民样现分外身高意进法实回理美点月明种声全工话向情部正名定女问力机给业" +
		"最间新打位因重电第门相次东政海口使教西平真气信北关内加化代军产入先山水万市体处总场师书比员性通目报立命活难神数件安表原车白应路期常提" +
		"感金反合放做系计司利受光果亲界京务制解各任清物台象记边共风战干接特服林题建南度统色", rareFirst: 0x4e00, rare: 1800}}},
}
