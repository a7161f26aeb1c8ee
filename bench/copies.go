package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/copies/signature"
)

// copiesMemory is what a join of the benchmark may take for its sets, and for a slice.
const copiesMemory = 1 << 30

// termsMax is how many documents the term-split is measured with: its records grow with the square.
const termsMax = 30_000

// allCopies finds all pairs of copies of texts, of which there is one for a hundred fingerprints of b.n, and of a hundredth of them, and of
// sizes between, with both splits of Zhang et al., and counts the
// records that either would send between machines: what their table 1 and figure 9 show.
//
// Napkin for a million texts of 150 spot signatures: 1.5e8 signatures, 1.2 GB of sets, two radix sorts and a look-up each: 20 s;
// and 1e6 queries of some 20 look-ups and a dozen candidates, 10 us each: 10 s.
func allCopies(ctx context.Context, b *bench, r *Result) error {
	return b.copies(ctx, r, newEdited(3))
}

// chineseCopies is allCopies for Chinese texts, by CCDet.
func chineseCopies(ctx context.Context, b *bench, r *Result) error {
	return b.copies(ctx, r, newChineseEdited(3))
}

func (b *bench) copies(ctx context.Context, r *Result, c *edited) error {
	r.Columns = []string{"signing MB/s", "doc-split s", "processor s", "of system", "growth", "reading", "misses", "lookups", "postings", "candidates", "pairs", "slices", "records", "MB sent", "term-split s", "partial overlaps", "MB sent", "peak GiB"}
	var first costs
	texts := max(b.n/100, 100)
	for n := max(texts/100, 100); ; n = min(next(n), texts) {
		b.say("%s texts", humanize.Comma(int64(n)))
		if err := b.copiesOf(ctx, c, n, &first, r); err != nil {
			return fmt.Errorf("%d texts: %w", n, err)
		}
		if n == texts {
			break
		}
	}
	r.note("texts of about %d bytes: of ten, seven are new, two are others with 1 word in 40 and 1 in 10 replaced, one is half of another; 300 in a row share a sentence; %s, threshold %g, %d threads", c.meanBytes(), c.method, c.method.Threshold(), runtime.GOMAXPROCS(0))
	r.note("verified: every copy with 1 word in 40 replaced whose signatures are similar is found, and both splits find the same pairs (term-split up to %s texts)", humanize.Comma(termsMax))
	r.note("signing: on one thread, up to 10,000 texts are signed for it; peak: of this process until then, 1 GiB for the machine's memory included")
	r.note("of system: of these, what the system took, most of it for memory that was not used before; growth: processor seconds a document, of those with the fewest documents, up to %s the median of %d joins; beside that reading: what a byte takes in memory as large as all signatures, read sequentially by one thread, and misses: what one of many reads at random takes", humanize.Comma(joinsRepeated), b.rounds)
	r.note("lookups, postings: lists that a document is looked up in, and entries of them that are read, a document; records: documents to the slices and pairs from them; MB: 10^6 bytes")
	return nil
}

// next returns about three times n: 30,000 behind 10,000, 100,000 behind 30,000, and so on.
func next(n int) int {
	if strconv.Itoa(n)[0] == '3' {
		return n / 3 * 10
	}
	return 3 * n
}

func (b *bench) copiesOf(ctx context.Context, c *edited, n int, first *costs, r *Result) error {
	signed, err := b.joinTexts(ctx, c, n, postings.Documents)
	if err != nil {
		return err
	}
	if err := c.verify(signed.pairs, n); err != nil {
		return err
	}
	cost := costsOf(signed.processor/float64(n), 8*signed.signatures)
	if *first == (costs{}) {
		*first = cost
	}
	t := signed.report.Traffic
	cells := []Cell{number(float64(signed.bytes) / 1e6 / signed.signing), number(signed.seconds), number(signed.processor), number(signed.system),
		number(cost.text / first.text), number(cost.byte / first.byte), number(cost.miss / first.miss),
		number(float64(signed.report.Lookups) / float64(n)), number(float64(signed.report.Postings) / float64(n)), number(float64(signed.report.Candidates)),
		number(float64(len(signed.pairs))), number(float64(signed.report.Slices)), number(float64(t.Sent + t.Partial)), number(float64(t.SentBytes+t.PartialBytes) / 1e6)}
	if n > termsMax {
		cells = append(cells, word("-"), word("-"), word("-"))
	} else {
		terms, err := b.joinTexts(ctx, c, n, postings.Terms)
		if err != nil {
			return err
		}
		if !slices.Equal(terms.pairs, signed.pairs) {
			return fmt.Errorf("the term-split finds %d pairs, the doc-split %d", len(terms.pairs), len(signed.pairs))
		}
		t := terms.report.Traffic
		cells = append(cells, number(terms.seconds), number(float64(t.Partial)), number(float64(t.SentBytes+t.PartialBytes)/1e6))
	}
	r.row(humanize.Comma(int64(n))+" texts", append(cells, number(float64(peakBytes())/(1<<30)))...)
	return nil
}

// An edited corpus has texts of invented words and common English ones, and copies of them. Text i is the same on every machine.
type edited struct {
	corpus *corpus
	method copies.Method
	common []string // words that hold sentences together
}

// commonWords are those that sentences are held together by: spotsigs needs them.
var commonWords = strings.Fields("the of and to in a is that for it was on are as with they at be this from have or by one had not but what all were when we there can an which their if will each about how up out them")

func newEdited(seed uint64) *edited {
	return &edited{newEnglish(seed), copies.SpotSigs, commonWords}
}

// newChineseEdited has sentences that end with a full stop: CCDet needs them.
func newChineseEdited(seed uint64) *edited {
	c := newChinese(seed)
	return &edited{c, copies.CCDet, c.words[:50]}
}

// meanBytes returns about how long a text is.
func (c *edited) meanBytes() (bytes int) {
	const some = 100
	for i := range some {
		bytes += len(c.text(i))
	}
	return bytes / some
}

// text returns text i. Of ten, the eighth and ninth are edited copies of the first, and the last is half of the second.
func (c *edited) text(i int) string {
	family := i / 10 * 10
	var words []string
	rng := rand.New(rand.NewPCG(c.corpus.seed, uint64(i)+10))
	switch i % 10 {
	case 7:
		words = c.replaced(rng, family, 40)
	case 8:
		words = c.replaced(rng, family, 10)
	case 9:
		words = c.words(family + 1)
		words = words[len(words)/2:]
	default:
		words = c.words(i)
	}
	site := rand.New(rand.NewPCG(c.corpus.seed, uint64(i/300)))
	return strings.Join(append(words, c.sentence(site)...), c.corpus.between)
}

// words returns those of a text that is no copy.
func (c *edited) words(i int) (words []string) {
	rng := rand.New(rand.NewPCG(c.corpus.seed^1, uint64(i)))
	for len(words) < 120+rng.IntN(120) {
		words = append(words, c.sentence(rng)...)
	}
	return words
}

// sentence returns 12 words, of which two in five are common.
func (c *edited) sentence(rng *rand.Rand) (words []string) {
	for range 12 {
		if rng.IntN(5) < 2 {
			words = append(words, c.common[rng.IntN(len(c.common))])
		} else {
			words = append(words, c.corpus.word(rng))
		}
	}
	if c.method == copies.CCDet {
		words[len(words)-1] += c.corpus.stop
	}
	return words
}

// replaced returns the words of text i, one in rate by another.
func (c *edited) replaced(rng *rand.Rand, i, rate int) []string {
	words := c.words(i)
	for range len(words) / rate {
		words[rng.IntN(len(words))] = c.corpus.word(rng)
	}
	return words
}

// verify wants every copy of which few words were replaced among the pairs of n texts, but for those whose signatures are not similar.
func (c *edited) verify(pairs []copies.Pair, n int) error {
	signer, err := copies.NewSigner(copies.Options{Method: c.method})
	if err != nil {
		return err
	}
	for i := 7; i < n; i += 10 {
		_, ok := slices.BinarySearchFunc(pairs, uint32(i), func(p copies.Pair, b uint32) int {
			if p.A != uint32(i-7) {
				return int(p.A) - (i - 7)
			}
			return int(p.B) - int(b)
		})
		if ok {
			continue
		}
		x, y := signer.Sign(c.text(i-7)).Own, signer.Sign(c.text(i)).Own
		if c.method.Measure().Similarity(len(x), len(y), signature.Shared(x, y)) >= c.method.Threshold() {
			return fmt.Errorf("text %d, a copy of %d, is not found", i, i-7)
		}
	}
	return nil
}

// peakBytes returns the most memory that this process has had at one time, 0 where the system does not tell.
func peakBytes() uint64 { return statusBytes(os.Getpid(), "VmHWM") }
