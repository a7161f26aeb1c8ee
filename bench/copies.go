package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/near/shingle"
)

// copiesMemory is the memory of a join for its sets, and for a slice.
const copiesMemory = 1 << 30

// copiesMethod is how texts are compared.
const copiesMethod = copies.SpotSigs

// copiesOfTexts finds all pairs of copies of texts, of which there is one for a hundred fingerprints
// of b.n, and of a hundredth of them, and of sizes between.
//
// Napkin for a million texts of 150 spot signatures: 1.5e8 signatures, 1.2 GB of sets, two radix
// sorts and a look-up each: 20 s; and 1e6 queries of some 20 look-ups and a dozen candidates, 10 us
// each: 10 s.
func copiesOfTexts(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"signing MB/s", "s", "processor s", "growth", "candidates", "pairs", "slices",
		"peak GiB"}
	c := newEdited(3)
	var first float64 // processor time of a document, of the fewest
	texts := max(b.n/100, 100)
	for n := max(texts/100, 100); ; n = min(next(n), texts) {
		b.say("%s texts", humanize.Comma(int64(n)))
		if err := b.copiesRow(ctx, c, n, &first, r); err != nil {
			return fmt.Errorf("%d texts: %w", n, err)
		}
		if n == texts {
			break
		}
	}
	r.note("of ten texts, seven are new, two are others with 1 word in 40 and 1 in 10 replaced, one "+
		"is half of another; 300 in a row share a sentence; %s, threshold %g, %d threads", copiesMethod,
		copiesMethod.Threshold(), runtime.GOMAXPROCS(0))
	r.note("verified: every copy with 1 word in 40 replaced whose signatures are similar is found")
	r.note("signing: on one thread; growth: processor time of a document, relative to the fewest " +
		"documents; peak: of this process until then, 1 GiB for the machine's memory included")
	return nil
}

// next returns about three times n: 30,000 behind 10,000, 100,000 behind 30,000, and so on.
func next(n int) int {
	if strconv.Itoa(n)[0] == '3' {
		return n / 3 * 10
	}
	return 3 * n
}

// copiesRow makes and signs n texts on one thread, and joins them on all. first is the processor time of a
// document of the fewest texts, 0 before them.
func (b *bench) copiesRow(ctx context.Context, c *edited, n int, first *float64, r *Result) error {
	o := copies.Options{Method: copiesMethod, Room: postings.Room{Bytes: copiesMemory, Dir: b.dir},
		Join: postings.Options{MemoryBytes: copiesMemory}}
	signer, err := copies.NewSigner(o)
	if err != nil {
		return err
	}
	d := copies.NewDetector(o)
	defer d.Close()
	bytes, took := 0, time.Duration(0)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		text := c.text(i)
		bytes += len(text)
		took += timed(func() { d.Add(signer.Sign(text)) })
	}
	runtime.GC() // of what was made before
	began, used := time.Now(), processorTime()
	pairs, report, err := d.Pairs(ctx)
	if err != nil {
		return err
	}
	seconds, processor := time.Since(began).Seconds(), (processorTime() - used).Seconds()
	if err := c.verify(pairs, n); err != nil {
		return err
	}
	each := processor / float64(n)
	*first = cmp.Or(*first, each)
	r.row(humanize.Comma(int64(n))+" texts", float64(bytes)/1e6/took.Seconds(), seconds, processor, each / *first,
		float64(report.Candidates), len(pairs), float64(report.Slices), float64(statusBytes(os.Getpid(), "VmHWM"))/(1<<30))
	return nil
}

// An edited corpus has texts of invented words and common English ones, and copies of them. Text i
// is the same on every machine.
type edited struct {
	corpus *corpus
	common []string // words that hold sentences together
}

func newEdited(seed uint64) *edited {
	return &edited{newEnglish(seed), strings.Fields("the of and to in a is that for it was on are as with they at be " +
		"this from have or by one had not but what all were when we there can an which their if will each about how up " +
		"out them")}
}

// text returns text i. Of ten, the eighth and ninth are edited copies of the first, and the last is
// half of the second.
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

// verify wants every copy of which few words were replaced among the pairs of n texts, but for
// those whose signatures are not similar.
func (c *edited) verify(pairs []copies.Pair, n int) error {
	signer, err := copies.NewSigner(copies.Options{Method: copiesMethod})
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
		if copiesMethod.Measure().Similarity(len(x), len(y), shingle.Shared(x, y)) >= copiesMethod.Threshold() {
			return fmt.Errorf("text %d, a copy of %d, is not found", i, i-7)
		}
	}
	return nil
}
