package asm

import (
	"fmt"
	"math/bits"
)

// Planar is what a probe reads of a planar table (package engine/index/table has its
// format): where buckets begin, and the low 16 bits of every key.
//
//	bucket b  = the top BucketBits bits of a key
//	line l    = b/PerLine: its buckets share a line of Lines, words 8l to 8l+7
//	run(b)    = Low[start(b):start(b+1)]
//
//	line    | base | wide | 0 | 110 0 10 0 0 1110 ...  0 0 0 |
//	bits      40     1     23   448
//
// base is the rank of the line's first key, in the lowest bits of word 0. Words 1
// to 7 hold a 1 for each key and a 0 behind the last key of each bucket, lowest
// bit first: with e the place of zero number j, bucket j of the line ends at rank
// base + e - j and has as many keys as there are ones right before e. A line whose
// keys and buckets are more than 448 is wide: the caller has its buckets' starts
// elsewhere. A line behind the last has the number of keys for its base.
type Planar struct {
	Lines      []uint64 // 8 words for each PerLine of 1<<BucketBits buckets, and 8 more
	Low        []uint16 // Keys + PlanarPad or more
	Keys       uint64   // at most PlanarKeysMax
	BucketBits uint     // 1 to PlanarBucketBitsMax
	PerLine    uint64   // buckets a line, 2 to PlanarLineBits
	inverse    uint64   // b*inverse>>64 is b/PerLine
	words      uint64   // that Lines must have
}

const (
	// PlanarWide, in the first word of a line, marks one whose buckets begin
	// elsewhere.
	PlanarWide = 1 << 40
	// PlanarKeysMax is the largest base.
	PlanarKeysMax = 1<<40 - 1
	// PlanarBucketBitsMax is the most bits of a bucket: up to 2^55 the quotient by
	// inverse is exact.
	PlanarBucketBitsMax = 48
	// PlanarLineBits is how many keys and buckets a line holds together.
	PlanarLineBits = 448
	// PlanarBucketMax is the most keys of a bucket that Locate takes: their ones
	// are looked for in eight bytes that may have seven bits behind them.
	PlanarBucketMax = 55
	// PlanarPad is how many elements of Low stand behind the last key, so that a
	// kernel may load a whole register at any of them.
	PlanarPad = 32
	// PlanarLongest is the longest run that Scan takes.
	PlanarLongest = 1024
)

// NewPlanar panics when slices are too short or numbers out of their limits.
func NewPlanar(lines []uint64, low []uint16, keys uint64, bucketBits uint, perLine uint64) Planar {
	p := Planar{Lines: lines, Low: low, Keys: keys, BucketBits: bucketBits, PerLine: perLine}
	if perLine < 2 || perLine > PlanarLineBits || bucketBits < 1 || bucketBits > PlanarBucketBitsMax {
		panic(fmt.Sprintf("asm: planar table of %d bucket bits, %d buckets a line", bucketBits, perLine))
	}
	p.inverse = ^uint64(0)/perLine + 1
	p.words = 8 * (PlanarLines(bucketBits, perLine) + 1)
	p.check()
	return p
}

// PlanarLines is how many lines a table has, but for the one behind the last.
func PlanarLines(bucketBits uint, perLine uint64) uint64 {
	return (1<<bucketBits + perLine - 1) / perLine
}

// Line is the line of a bucket.
func (p *Planar) Line(bucket uint64) uint64 { return bucket / p.PerLine }

// Base is the rank of the first key of a line, or the number of keys for the
// line behind the last.
func (p *Planar) Base(line uint64) uint64 { return p.Lines[8*line] & PlanarKeysMax }

// Wide says whether a line's buckets begin elsewhere.
func (p *Planar) Wide(line uint64) bool { return p.Lines[8*line]&PlanarWide != 0 }

// SetLine writes the line whose keys these are, ascending, of which the first has
// rank base. It reports whether they fit; if not, the line holds only the base and
// the mark of a wide line.
func (p *Planar) SetLine(line, base uint64, keys []uint64) bool {
	words := p.Lines[8*line:][:8]
	clear(words)
	first := line * p.PerLine
	words[0] = base
	if uint64(len(keys))+min(p.PerLine, 1<<p.BucketBits-first) > PlanarLineBits {
		words[0] |= PlanarWide
		return false
	}
	for i, key := range keys {
		at := 64 + key>>(64-p.BucketBits) - first + uint64(i)
		words[at/64] |= 1 << (at % 64)
	}
	return true
}

// Run is where a bucket's run begins and ends, if its line is not wide; ok is
// false when the line has not that many zeros. Nothing else is checked.
func (p *Planar) Run(bucket uint64) (start, end uint64, ok bool) {
	line := bucket / p.PerLine
	j := bucket - line*p.PerLine
	words := p.Lines[8*line:][:8]
	left := int(j) // zeros before the one sought
	for i := uint64(1); i < 8; i++ {
		zeros := ^words[i]
		if n := bits.OnesCount64(zeros); n <= left {
			left -= n
			continue
		}
		for ; left > 0; left-- {
			zeros &= zeros - 1
		}
		at := 64*i + uint64(bits.TrailingZeros64(zeros))
		end = p.Base(line) + at - 64 - j
		return end - onesBefore(words, at), end, true
	}
	return 0, 0, false
}

// onesBefore is how many ones stand right before bit at of a line, behind its
// first word.
func onesBefore(words []uint64, at uint64) (n uint64) {
	for at > 64 && words[(at-1)/64]>>((at-1)%64)&1 != 0 {
		n++
		at--
	}
	return n
}

// Place is the bucket, counted from the first of the line, that key number i of
// a line lies in that is not wide; ok is false when it has not that many keys.
func (p *Planar) Place(line, i uint64) (j uint64, ok bool) {
	left := int(i)
	for w, word := range p.Lines[8*line+1:][:7] {
		if n := bits.OnesCount64(word); n <= left {
			left -= n
			continue
		}
		for ; left > 0; left-- {
			word &= word - 1
		}
		return uint64(64*w+bits.TrailingZeros64(word)) - i, true
	}
	return 0, false
}

// PlanarProbe asks one bucket for keys near Key: the query with a pattern of flips
// applied to its leading bits.
type PlanarProbe struct {
	Key   uint64
	Limit uint16 // a key whose low 16 bits differ in at most this many is a hit; 0 to 64
	Table uint16 // these two are the caller's; not looked at
	Query uint32
}

// PlanarRun is the part of Low that a probe reads.
type PlanarRun struct {
	Start uint64
	Len   uint32
	Probe uint32 // index of the probe
}

// PlanarHit is an element of Low that a probe asked for.
type PlanarHit struct {
	Pos   uint64 // its index in Low: the key's rank
	Probe uint64 // index of the probe
}

// check panics when slices are too short for the kernels: a programmer's error.
func (p *Planar) check() {
	if p.words == 0 || uint64(len(p.Lines)) < p.words ||
		uint64(len(p.Low)) < PlanarPad || p.Keys > uint64(len(p.Low))-PlanarPad {
		panic(fmt.Sprintf("asm: planar table of %d keys, %d bucket bits, %d buckets a line, %d words of lines, %d low words",
			p.Keys, p.BucketBits, p.PerLine, len(p.Lines), len(p.Low)))
	}
}

// Ahead asks memory for what Locate will read for the probes.
func (p *Planar) Ahead(probes []PlanarProbe) {
	p.check()
	if len(probes) > 0 {
		planarAhead(p, probes)
	}
}

// Locate writes to runs the run of each of the probes from first on whose bucket
// is not empty, with the probe's index. It stops before a
// probe whose line is wide or lies, or whose bucket has more than PlanarBucketMax
// keys. It returns how many runs it wrote and how many probes it has done. runs must
// be as long as probes[first:].
//
// Napkin: some 50 instructions a probe, 20 cycles; one line of Lines, and where the bucket is not
// empty one of Low, a run of less than one key on average.
func (p *Planar) Locate(runs []PlanarRun, probes []PlanarProbe, first int) (found, done int) {
	return p.LocateAhead(runs, probes, first, nil, nil)
}

// LocateAhead is Locate, and asks memory meanwhile for what next.Locate will read for the probes
// ahead, one for each that is located: there must be none, or as many as probes from
// first on. Where Locate stops, one more may have been asked for.
//
// Napkin: the lines come while probes are located, where [Planar.Ahead] waits for them: 17 ns a
// probe instead of 23, n = 1e8.
func (p *Planar) LocateAhead(runs []PlanarRun, probes []PlanarProbe, first int, next *Planar, ahead []PlanarProbe) (found, done int) {
	p.check()
	n := len(probes) - first
	if n <= 0 {
		return 0, 0
	}
	var asked *PlanarProbe
	if len(ahead) > 0 {
		next.check()
		asked = &ahead[:n][0]
	}
	runs = runs[:n]
	raceRead(probes)
	raceWrite(runs)
	if raceEnabled {
		for _, probe := range probes[first:] {
			raceRead(p.Lines[8*p.Line(probe.Key>>(64-p.BucketBits)):][:8])
		}
	}
	return planarLocate(runs, probes[first:], p, uint64(first), asked, next)
}

// Ask asks memory for what Scan will read for the runs.
func (p *Planar) Ask(runs []PlanarRun) {
	p.check()
	if len(runs) > 0 {
		planarAsk(p, runs)
	}
}

// Scan finds the elements of the runs that differ from their probe's low 16 bits
// in at most its limit, in the order of runs and positions. It returns how many
// hits it wrote and how many runs are done; done < len(runs) means that dst might
// have no room for what the next run holds. As long as dst has room for
// PlanarLongest hits, every call makes progress. A run that is longer than
// PlanarLongest, not within the keys or of no probe is a programmer's error and
// panics.
//
// Napkin, AVX-512: a run of up to 32 elements is one masked load, XOR, popcount and
// comparison, and some ten instructions around them: five cycles. 697 of 65,536
// words are within 3 bits of another.
func (p *Planar) Scan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe) (hits, done int) {
	p.check()
	raceRead(probes)
	raceRead(runs)
	raceWrite(dst)
	if raceEnabled {
		p.annotate(runs)
	}
	for done < len(runs) {
		n := min(len(runs)-done, planarCall)
		found, ready := planarScan(dst[hits:], runs[done:done+n], probes, p)
		hits += found
		done += ready
		if ready == n {
			continue
		}
		if r := runs[done]; r.Len > PlanarLongest || r.Start > p.Keys || uint64(r.Len) > p.Keys-r.Start || uint64(r.Probe) >= uint64(len(probes)) {
			panic(fmt.Sprintf("asm: run of %d elements from %d of %d keys, of probe %d of %d", r.Len, r.Start, p.Keys, r.Probe, len(probes)))
		}
		break
	}
	return hits, done
}

// annotate tells the race detector of the runs that a scan may read.
func (p *Planar) annotate(runs []PlanarRun) {
	for _, r := range runs {
		if r.Start <= p.Keys && uint64(r.Len) <= p.Keys-r.Start {
			raceRead(p.Low[r.Start:][:r.Len])
		}
	}
}

// planarCall is how many runs one call into assembly takes: at most 128 KiB.
const planarCall = 64
