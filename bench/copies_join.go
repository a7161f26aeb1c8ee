package main

import (
	"cmp"
	"context"
	"iter"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/parallel"
)

// costs are what a text takes, and the memory of this machine where it has as many bytes as the signatures of all texts: a byte that is
// read sequentially, and a miss among others.
type costs struct{ text, byte, miss float64 }

func costsOf(text float64, bytes int) costs {
	const rounds = 5
	words := bigMemory()
	words = words[:min(len(words), max(bytes/8, 1024))]
	times := max(len(bigMemory())/len(words)/8, 1) // of few bytes many times
	reading := best(rounds, func() {
		for range times {
			readAll(words)
		}
	})
	around := words[:1<<(bits.Len(uint(len(words)))-1)] // scatter wants a power of two
	missing := best(rounds, func() { scatter(around, missesIndependent) })
	return costs{text, reading.Seconds() / float64(8*times*len(words)), missing.Seconds()}
}

// joinedTexts is what a join found, and what it took.
type joinedTexts struct {
	pairs             []copies.Pair
	report            copies.Report
	bytes, signatures int
	signing, seconds  float64
	processor, system float64 // seconds of all threads, and those of them that the system took
}

// joinsRepeated is up to how many texts the join is done several times over.
const joinsRepeated = 100_000

// joinTexts signs n texts on all threads and joins them; few texts several times over, of which the median counts.
func (b *bench) joinTexts(ctx context.Context, c *edited, n int, split postings.Split) (j joinedTexts, err error) {
	o := copies.Options{Method: c.method, Room: postings.Room{Bytes: copiesMemory, Dir: b.dir},
		Join: postings.Options{MemoryBytes: copiesMemory, Split: split}}
	d := copies.NewDetector(o)
	defer func() { d.Close() }()
	rounds := 1
	if n <= joinsRepeated && split == postings.Documents {
		rounds = b.rounds
	}
	var kept []copies.Sets // for further rounds
	err = signTexts(ctx, c, n, o, func(text string, sets copies.Sets) {
		j.bytes += len(text)
		j.signatures += len(sets.Own)
		d.Add(sets)
		if rounds > 1 {
			kept = append(kept, sets)
		}
	})
	if err != nil {
		return j, err
	}
	if j.signing, err = signingSeconds(c, min(n, 10_000), o); err != nil {
		return j, err
	}
	j.signing *= float64(n) / float64(min(n, 10_000))
	all := make([]joinedTexts, rounds)
	for i := range all {
		if i > 0 {
			for _, sets := range kept {
				d.Add(sets)
			}
		}
		all[i] = j
		if err := all[i].join(ctx, d); err != nil {
			return j, err
		}
		d.Close()
		d = copies.NewDetector(o)
	}
	slices.SortFunc(all, func(x, y joinedTexts) int { return cmp.Compare(x.processor, y.processor) })
	return all[rounds/2], nil
}

// join finds the pairs of what d has, and measures that.
func (j *joinedTexts) join(ctx context.Context, d *copies.Detector) (err error) {
	runtime.GC() // of what was made before
	began, used, system := time.Now(), processorTime(), systemTime()
	j.pairs, j.report, err = d.Pairs(ctx)
	j.seconds, j.processor, j.system = time.Since(began).Seconds(), (processorTime() - used).Seconds(), (systemTime() - system).Seconds()
	return err
}

// signTexts calls f with the first n texts and their signatures, in order.
func signTexts(ctx context.Context, c *edited, n int, o copies.Options, f func(string, copies.Sets)) error {
	const piece = 256
	type batch struct {
		from  int
		texts []string
		sets  []copies.Sets
	}
	produce := func(_ context.Context, yield func(*batch) bool) error {
		for from := 0; from < n && yield(&batch{from: from}); from += piece {
		}
		return nil
	}
	work := func(_ context.Context, items iter.Seq[*batch]) error {
		signer, err := copies.NewSigner(o)
		if err != nil {
			return err
		}
		for x := range items {
			for i := x.from; i < min(x.from+piece, n); i++ {
				x.texts = append(x.texts, c.text(i))
			}
			for _, text := range x.texts {
				x.sets = append(x.sets, signer.Sign(text))
			}
		}
		return nil
	}
	return parallel.Ordered(ctx, parallel.Options{}, produce, work, func(x *batch) error {
		for i := range x.sets {
			f(x.texts[i], x.sets[i])
		}
		return nil
	})
}

// signingSeconds returns what signing the first n texts takes on one thread, which making them is not a part of.
func signingSeconds(c *edited, n int, o copies.Options) (seconds float64, err error) {
	signer, err := copies.NewSigner(o)
	if err != nil {
		return 0, err
	}
	for i := range n {
		text := c.text(i)
		began := time.Now()
		signer.Sign(text)
		seconds += time.Since(began).Seconds()
	}
	return seconds, nil
}
