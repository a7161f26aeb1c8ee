package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A guess recognises an encoding: the right decoding contains more of its languages' frequent
// characters than any other.
type guess struct {
	name     string // name in the HTML standard
	enc      encoding.Encoding
	common   string  // characters that are common
	sure     string  // frequent characters of any case, by which it is compared with the declared encoding
	minShare float64 // minimum share of them among the characters beyond ASCII
	single   bool    // one byte is one character, and words have no ASCII letters
}

// The commonest characters of some languages, each about half of a text and more.
const (
	commonSimplified = "的一是不了人在有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道" +
		"行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意" +
		"无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什" +
		"二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义" +
		"各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金" +
		"指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求" +
		"据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔晚每守录读元者，。、：；？！“”（）" +
		"《》"
	commonTraditional = "的一是不了人在有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道" +
		"行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意" +
		"無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什" +
		"二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義" +
		"各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金" +
		"指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求" +
		"據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運筆晚每守錄讀元，。、：；？！「」（）《" +
		"》"
	commonKana = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござ" +
		"じずぜぞだでどばびぶべぼっゃゅょアイウエオカキクケコサシスセソタチツテトナニネノハヒフヘホマミムメモヤユ" +
		"ヨラリルレロワンガグゲゴジズダデドバビブベボパピプペポッャュョー、。「」"
	commonHangul = "이다는을의에가고하지한로기사은를도서리아자어나인대있들게그시정수일해과만전오보부라상구제것스여주원으국성" +
		"장동와안연공경비치관내우선신적조미위용세무면모유진화학교문소생었니요까했습되된등발물방법계거년월후중개간" +
		"회또할때두말같음없러던며려"
	commonRussian = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф"
	commonGreek   = "αοιετνσςρκπηυλμωάίέόήύώδγχθφβξζψ"

	// Case is no evidence in a heading in capitals, but these letters are two thirds of each text, and a third of what
	// another encoding makes of it.
	sureRussian = "оеаинтсрвлОЕАИНТСРВЛ"
	sureGreek   = "αάοόιίεέτνσςηήρκπΑΆΟΌΙΊΕΈΤΝΣΗΉΡΚΠ"
	sureAsian   = commonSimplified + commonTraditional + commonKana + commonHangul // a page may mix them
)

var guesses = []guess{
	{"gb18030", simplifiedchinese.GB18030, commonSimplified, sureAsian, 0.4, false},
	{"big5", traditionalchinese.Big5, commonTraditional, sureAsian, 0.4, false},
	{"shift_jis", japanese.ShiftJIS, commonKana, sureAsian, 0.3, false},
	{"euc-jp", japanese.EUCJP, commonKana, sureAsian, 0.3, false},
	{"euc-kr", korean.EUCKR, commonHangul, sureAsian, 0.5, false},
	{"windows-1251", charmap.Windows1251, commonRussian, sureRussian, 0.75, true},
	{"koi8-r", charmap.KOI8R, commonRussian, sureRussian, 0.75, true},
	{"windows-1253", charmap.Windows1253, commonGreek, sureGreek, 0.75, true},
}

const (
	guessBytesMax = 48 << 10 // bytes that are examined, beyond ASCII and next to it
	guessMin      = 8        // characters beyond ASCII; fewer do not show the encoding
	guessSure     = 40       // from this number of examined bytes on, a declared encoding in which all bytes are valid may be overruled
	guessMargin   = 1.1      // ratio of frequent characters to those in the declared encoding that is needed to overrule it
)

// guessEncoding returns the encoding that the bytes themselves show, or nil if they show none. The declared encoding,
// if there is one, is kept unless the text is absurd in it and another encoding fits. It is also kept if the bytes are
// valid in it and are few, or if this package does not know its languages.
func guessEncoding(raw []byte, declared string, enc encoding.Encoding) encoding.Encoding {
	sample := sampleOf(raw)
	index := slices.IndexFunc(guesses, func(g guess) bool { return g.name == declared || declared == "gbk" && g.name == "gb18030" })
	if declared != "" && enc != nil && (index < 0 || len(sample) < guessSure) {
		if _, repaired := decode(enc, raw); repaired == 0 {
			return nil
		}
	}
	best, bestShare := -1, 0.0
	mixed := mixesWords(raw)
	for i := range guesses {
		g := &guesses[i]
		if g.single && mixed {
			continue
		}
		if share := g.share(sample, g.common); share >= g.minShare && share > bestShare {
			best, bestShare = i, share
		}
	}
	if best < 0 || best == index {
		return nil
	}
	if g := &guesses[best]; index < 0 || g.share(sample, g.sure) >= guessMargin*guesses[index].share(sample, guesses[index].sure) {
		return g.enc
	}
	return nil
}

// mixesWords reports whether letters of ASCII are often next to bytes beyond ASCII. This is so in Western languages,
// and not in languages with other letters.
func mixesWords(raw []byte) bool {
	adjacent, nonASCII := 0, 0
	for i := 1; i < len(raw); i++ {
		if raw[i] >= utf8.RuneSelf {
			nonASCII++
		}
		a, b := raw[i-1], raw[i]
		if a >= utf8.RuneSelf && isASCIILetter(b) || b >= utf8.RuneSelf && isASCIILetter(a) {
			adjacent++
		}
	}
	return adjacent*5 > nonASCII
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// sampleOf returns parts of raw that are beyond ASCII. Each part includes the ASCII bytes between and after its bytes
// that may be second bytes of a character.
func sampleOf(raw []byte) (sample []byte) {
	for i := 0; i < len(raw) && len(sample) < guessBytesMax; {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		end, limit := i, min(len(raw), i+guessBytesMax)
		for end < limit && raw[end] >= utf8.RuneSelf || end > i && end < limit && raw[end-1] >= utf8.RuneSelf &&
			isSecond(raw[end]) {
			end++
		}
		sample = append(append(sample, raw[i:end]...), '\n')
		i = max(end, i+1)
	}
	return sample
}

// isSecond reports whether an ASCII byte may be the second one of a character in an encoding of two
// bytes, or the fourth in GB18030.
func isSecond(c byte) bool { return c >= 0x40 && c < 0x7f || c >= '0' && c <= '9' }

// share decodes a sample. It returns the share of the characters beyond ASCII that are in common. An invalid byte
// counts as three characters.
func (g *guess) share(sample []byte, common string) float64 {
	text, err := g.enc.NewDecoder().Bytes(sample)
	if err != nil {
		return 0
	}
	hits, all := 0, 0
	for _, r := range string(text) {
		switch {
		case r == utf8.RuneError:
			all += 3
		case r >= utf8.RuneSelf:
			if all++; strings.ContainsRune(common, r) {
				hits++
			}
		}
	}
	if all < guessMin {
		return 0
	}
	return float64(hits) / float64(all)
}
