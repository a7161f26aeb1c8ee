package eval

import (
	"math"
	"math/rand/v2"
	"strings"
)

// A language is what invented texts of it are made of: its most frequent words, and the letters or
// syllables of which all other words are invented. In every list the most frequent come first, and
// frequencies fall as one over the rank.
type language struct {
	name               string
	between, stop      string // words; of a sentence
	common             string
	prefixes, suffixes string // of invented words; a blank in front stands for none
	shapes             []shape
}

// A shape says how words are invented: as least to most syllables, each of them a pattern whose
// hyphen is replaced by a unit, and a coda. Units without blanks between them are characters, and
// rare ones follow, from a character on.
type shape struct {
	least, most            int
	units, patterns, codas string
	from                   rune
	rare                   int
}

// vocabulary is what a language's texts are written with.
type vocabulary struct {
	*language
	common, prefixes, suffixes, stems []string
}

// stemsOf is the number of words that are invented for a language.
const stemsOf = 8000

func newVocabulary(l *language) *vocabulary {
	v := &vocabulary{language: l, common: strings.Fields(l.common), prefixes: strings.Split(l.prefixes, " "),
		suffixes: strings.Split(l.suffixes, " ")}
	var shapes []func(r *rand.Rand) string
	for _, s := range l.shapes {
		shapes = append(shapes, s.inventor())
	}
	r := rand.New(rand.NewPCG(30, 0))
	for range stemsOf {
		v.stems = append(v.stems, zipf(r, shapes, 2)(r))
	}
	return v
}

// inventor returns what invents words of a shape.
func (s *shape) inventor() func(r *rand.Rand) string {
	units, patterns, codas := strings.Fields(s.units), strings.Split(s.patterns, " "), strings.Split(s.codas, " ")
	if !strings.Contains(s.units, " ") {
		units = strings.Split(strings.Join(units, ""), "")
	}
	for i := range s.rare {
		units = append(units, string(s.from+rune(i*7919%11000)))
	}
	return func(r *rand.Rand) (word string) {
		for range s.least + r.IntN(s.most-s.least+1) {
			word += strings.ReplaceAll(zipf(r, patterns, 3), "-", zipf(r, units, 12)) + zipf(r, codas, 1)
		}
		return word
	}
}

// zipf draws one of a list, whose frequency falls as one over its rank and q.
func zipf[T any](r *rand.Rand, list []T, q float64) T {
	at := int(q*math.Pow(1+float64(len(list))/q, r.Float64()) - q)
	return list[min(at, len(list)-1)]
}

var languages = []language{
	{"en", " ", ". ", `the of and to in a is that for it as was with be by on not but at are this have from or had an
		they which one you were all there would their we been has when who will no more if out so what its about than into
		them can only other new some could these two may first then do any now over such even most made after also did
		many before must through where much should because each those how very`, "", " s ed ing ly er", []shape{{least: 1, most: 3,
		units:    "t s c r m d p l b f n h g w v st pr tr ch th pl gr sh br fl cl k j sp y",
		patterns: "-e -a -i -o -u -ea -ou -ai -y", codas: " n r t s l d m nt st ct ng"}}},
	{"de", " ", ". ", `der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an
		werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber
		vor zur bis mehr durch man sein wurde sei`, " ge be ver", " en er e ung te ten", []shape{{least: 1, most: 3,
		units:    "s g b r d m h k l t w f v n z st sch p pf kr br str tr gr",
		patterns: "-e -a -i -o -u -ei -ä -ü -au -ie -ö -eu", codas: " n r t l s ch st ng rt"}}},
	{"ru", " ", ". ", `и в не на я что он с как это по но они к у ты из мы за вы так же от сказать этот который мочь
		человек о один ещё бы такой только себя какой когда уже для вот кто да год знать мой до или если время нет свой
		всё есть был была были`,
		"", " а ов ый ого ие ая ем и у", []shape{{least: 1, most: 3,
			units:    "п р с т к в н л м д б з г х ст пр пл ч ш ж ц щ кр тр ф",
			patterns: "-о -а -е -и -у -ы -я -ю", codas: " н т р л с й в м ть"}}},
	{"ar", " ", ". ", `في من على إلى أن عن التي الذي هذا هذه مع ما كان بعد ذلك لا كما قد بين كل قبل أو هو هي لم حيث
		وقال خلال غير أكثر عند ولا أي إن منذ عام حتى يكون كانت`, " ال و ب وال", " ة ات ها ين", []shape{{least: 2, most: 4,
		units: "م ل ت ن ر ع ب س د ح ق ف ك ج ش ه خ ص ط ز ذ غ ض و ي", patterns: "- -ا -ي -و"}}},
	{"hi", " ", "। ", `के में की है और से का को पर ने कि यह भी हैं एक नहीं कर हो था लिए तो ही इस या जो वह गया थी बाद
		अपने किया साथ तक उस हुए दिया थे रहा कुछ जा बात सकता जब अब कोई`, "", " ों ी ा ें", []shape{{least: 1, most: 3,
		units:    "क र स त न म प ल व द ह ब ज ग य च श भ ट थ ध ख प्र स्त",
		patterns: "- -ा -ि -ी -े -ु -ो -ं -ै -ू", codas: " न र त ल"}}},
	{"ko", " ", ". ", `있다 하는 그 것이 수 이 등 한 것은 있는 및 위해 대한 더 그리고 했다 때 통해 하지만 것을 이번 모두 또 다른 가장 함께
		많은 있었다 우리 것으로 따라`, "", "의 을 를 이 가 은 는 에 에서 로 과 도 한 다 했다", []shape{{least: 1, most: 3, patterns: "-",
		units: "이사지기자시대인리정전일주수고상부도구제어보나성장원해소조우비경화유여선동발공세무관생신진미국중방행계용실업스라드트재연안" +
			"의회산역가오위물당개학모분영치현박통민단금체양남북평직건강황점준석", from: 0xac00, rare: 300}}},
	{"zh", "", "。", `的 了 在 是 和 有 不 也 为 这 将 对 等 中 上 就 与 他 我们 到 说 要 及 以 一个 可以 但 都 从 而 于 并 被 年 个
		更 已 还 进行 他们 通过 没有 自己`, "", "", []shape{{least: 1, most: 3, patterns: "-", units: "一人大国年出生会自家学对子地时道可里后小心多天" +
		"能好日起发成事作当想看文无开手用主行方前所本见经头面公同老动长知民样现分外身高意进法实回理美点月明种声全工话向情部正名定女问力机给业" +
		"最间新打位因重电第门相次东政海口使教西平真气信北关内加化代军产入先山水万市体处总场师书比员性通目报立命活难神数件安表原车白应路期常提" +
		"感金反合放做系计司利受光果亲界京务制解各任清物台象记边共风战干接特服林题建南度统色", from: 0x4e00, rare: 1800}}},
	{"ja", "", "。", `の は が を に で と も から まで より です ます した こと ため よう という その この ある いる する なる として について また
		など への では には`, "", " する した い の な として", []shape{
		{least: 1, most: 3, patterns: "-", from: 0x4e00, rare: 1200, units: "日一人国大年会中本出者分上生時行社事場業合同前手学新地方高間代動部" +
			"体力理子下見金度法物的定実性発内長期政通外意議経化数平全主対立氏明記市民員支制問最今家小東女工関多調要開水連自産不世教野感保原成品田" +
			"山安機思使表決別万"},
		{least: 2, most: 4, patterns: "-", units: "いうかしたてとなにのるすくきこさはもまらりれよおけそちつみめ"},
		{least: 2, most: 5, patterns: "-", units: "ンスルトリアイラクシロタレコテマカドプサセバメオキニナブパ"}}},
	{"th", "", " ", `ที่ และ การ ใน เป็น ของ มี ได้ ว่า ให้ จะ ไม่ กับ ความ จาก โดย นี้ แต่ คน ไป มา หรือ อยู่ ก็ ต้อง
		ผู้ ซึ่ง กัน แล้ว เมื่อ ถึง ทำ อย่าง`, "", "", []shape{{least: 1, most: 3, units: "ก น ร อ ม ส ท ว ต ล ย ค ป บ ด จ ห พ ช ข ง " +
		"ถ ผ ฟ ศ ธ ซ ณ กร ปร คร หน หล",
		patterns: "-า เ- -อ -ี -ั แ- -ิ -ุ โ- -ะ -ู ไ- -ื เ-ีย -้า -่า -ำ เ-ือ ใ- -่อ -ี่ -ื่อ",
		codas:    " น ง ก ม ย บ ด ว ต"}}},
}

// LanguageNames returns the languages of invented texts.
func LanguageNames() (names []string) {
	for i := range languages {
		names = append(names, languages[i].name)
	}
	return names
}
