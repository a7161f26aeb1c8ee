package plan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/klauspost/cpuid/v2"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/huffman"
)

// The sizes at which reads are measured: the first is where a trial table
// lies, the last is beyond the caches of most machines and still quick to fill.
const (
	readsFrom = 256 << 10
	readsTo   = 256 << 20
	readsMost = 1 << 30
	readsStep = 8 // each size is so many times the one before
)

// readsUpTo returns the largest size at which reads are measured beside a last cache of so many bytes: one that the cache does not
// hold, as what a miss of it takes is told from the reads of that size.
func readsUpTo(cache uint64) uint64 {
	to := uint64(readsTo)
	for to < min(cache, readsMost) {
		to *= 2
	}
	return to
}

// Measure measures this machine as far as an index of so many fingerprints needs, and as half of what
// the budget has left allows, with the kernels chosen in package asm. It takes about a second, ends
// with ctx, and takes [NeedBytes] of memory from the budget meanwhile; the error says that there is
// not so much.
func Measure(ctx context.Context, fingerprints uint64, b *memory.Budget) (*Machine, error) {
	bytes := NeedBytes(fingerprints, b)
	reserved, err := b.Reserve("measuring this machine", bytes)
	if err != nil {
		return nil, err
	}
	defer reserved.Release()
	return measure(ctx, bytes)
}

// NeedBytes returns the memory that [Measure] takes.
func NeedBytes(fingerprints uint64, b *memory.Budget) uint64 {
	const bytesEach = 64 // tables of a dozen
	return max(min(min(fingerprints, readsMost)*bytesEach, readsUpTo(lastCache()), b.Left()/2&^63), readsFrom)
}

// measure measures this machine with the kernels chosen, reads up to a working
// set of tableBytes, for which it takes that much memory, [readsUpTo] at most. The
// error says that the memory could not be had.
//
// Every figure is the least of several short repetitions: what disturbs only
// ever adds.
func measure(ctx context.Context, tableBytes uint64) (*Machine, error) {
	m := &Machine{Kernel: asm.Backend(), CacheB: lastCache()}
	sizes := []uint64{readsFrom}
	most := min(tableBytes&^63, readsUpTo(m.CacheB))
	for last := sizes[0]; last < most; {
		last = min(last*readsStep, most)
		sizes = append(sizes, last)
	}
	buffer, err := memory.Make[uint64](int(sizes[len(sizes)-1] / 8))
	if err != nil {
		return nil, fmt.Errorf("measuring memory: %w", err)
	}
	defer buffer.Free()
	t := timerFor(ctx, tableBytes)
	m.LineNS = lineCost(buffer.Data, lineRanges)
	for _, s := range sizes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.Reads = append(m.Reads, t.readCost(buffer.Data[:s/8]))
	}
	// Disturbance must not make a larger working set look cheaper.
	for i := 1; i < len(m.Reads); i++ {
		m.Reads[i].Together = max(m.Reads[i].Together, m.Reads[i-1].Together)
		m.Reads[i].Alone = max(m.Reads[i].Alone, m.Reads[i-1].Alone)
		m.Reads[i].Beside = max(m.Reads[i].Beside, m.Reads[i-1].Beside)
	}
	if m.Layouts, err = t.layouts(); err != nil {
		return nil, err
	}
	return m, nil
}

// lastCache returns the size of the largest cache, 0 when the processor does not say.
func lastCache() uint64 { return uint64(max(cpuid.CPU.Cache.L3, cpuid.CPU.Cache.L2, 0)) }

// A timer finds what something takes: the least time of many repetitions, as what disturbs only adds.
type timer struct {
	ctx   context.Context
	least time.Duration // repeat for so long: another program may have the processor for milliseconds
	most  time.Duration // and no longer, if one repetition was made
}

// timerFor returns a timer for tables of so many bytes: where a wrong choice costs little, it is
// made soon.
func timerFor(ctx context.Context, tableBytes uint64) timer {
	t := timer{ctx, 20 * time.Millisecond, time.Second}
	if tableBytes <= 16<<20 {
		t.least = 4 * time.Millisecond
	}
	return t
}

// time returns the least time of f in ns, over so many repetitions or more; before each of them comes
// prepare. When the context is done, or the time is up, it ends with what there is.
func (t timer) time(repetitions int, prepare, f func()) float64 {
	best := math.Inf(1)
	for begun := time.Now(); ; repetitions-- {
		took := time.Since(begun)
		if !math.IsInf(best, 1) && (repetitions <= 0 && took >= t.least || took > t.most || t.ctx.Err() != nil) {
			return best
		}
		prepare()
		begin := time.Now()
		f()
		best = min(best, float64(time.Since(begin)))
	}
}

// readCost reads random lines of data: first many at once, then with them the others of half a block, then each where the
// one before says. data is zero, so that what was read can take part in the
// next address without changing it. Before, it reads all of data in order, so that the caches hold what they will of it, as they do
// of tables that are in use: what the system has just filled they hold less of.
func (t timer) readCost(data []uint64) Read {
	const together, alone = 1 << 12, 1 << 9
	lineCost(data, len(data)) // all of it
	rng := rand.New(rand.NewPCG(1, uint64(len(data))))
	index := make([]uint64, together*besideLines)
	sum := uint64(0)
	// New lines each time: the old ones are in cache now.
	draw := func(n, lines int) func() {
		return func() { drawLines(rng, index[:n*lines], uint64(len(data)), lines) }
	}
	// many reads the lines of so many places, those of a pass at once.
	many := func(lines int) func() {
		return func() {
			for part := index[:together*lines]; len(part) > 0; part = part[passReads*lines:] {
				asm.PrefetchAt(data, part[:passReads*lines])
				for _, i := range part[:passReads*lines] {
					sum += data[i]
				}
			}
		}
	}
	r := Read{Bytes: uint64(8 * len(data))}
	r.Together = t.time(8, draw(together, 1), many(1)) / together
	r.Beside = max(0, t.time(4, draw(together, besideLines), many(besideLines))/together-r.Together) / (besideLines - 1)
	r.Alone = t.time(8, draw(alone, 1), func() {
		value := uint64(0)
		for _, i := range index[:alone] {
			value = data[i+value]
		}
		sum += value
	}) / alone
	if sum != 0 {
		panic("plan: memory that nobody wrote is not zero")
	}
	return r
}

// drawLines fills index with where in words the lines of random places begin, each of which has so many: of each pass the first lines of all,
// and then the others.
func drawLines(rng *rand.Rand, index []uint64, words uint64, lines int) {
	each := uint64(lineWords * lines)
	for pass := range slices.Chunk(index, passReads*lines) {
		for i := range pass {
			if i < passReads {
				pass[i] = rng.Uint64N(words/each) * each
			} else {
				pass[i] = pass[i-passReads] + lineWords
			}
		}
	}
}

const (
	lineRanges  = 64                                 // of which the cost of a line is told
	lineWords   = 8                                  // of 64 bits
	besideLines = huffman.BlockBytesDefault / 2 / 64 // of half a block
)

// passReads is how many reads are under way at once, as in a pass of probes.
const passReads = 64

// lineCost reads ranges of data in order, by the scan kernel, so many of 128 KiB each or all there are: the cost of a
// line, which the first quarter of them stays below.
func lineCost(data []uint64, ranges int) float64 {
	const length = 16 << 10
	ranges = max(1, min(ranges, len(data)/length))
	step := len(data) / ranges
	found := make([]uint32, 64)
	var costs []float64
	for i := range ranges {
		part := data[i*step:][:min(length, len(data))]
		begin := time.Now()
		if n, _ := asm.Within64(found, part, ^uint64(0), 0); n != 0 {
			panic("plan: memory that nobody wrote is not zero")
		}
		costs = append(costs, float64(time.Since(begin))/(float64(len(part))/8))
	}
	slices.Sort(costs)
	return costs[ranges/4]
}
