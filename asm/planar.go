package asm

import "fmt"

// Planar is what a probe reads of a planar table (package engine/table has its
// format): where groups begin, and the low 16 bits of every key.
//
//	group g   = the top GroupBits bits of a key
//	block b   = g/64: its groups share a line of Groups, words 8b to 8b+7
//	start(g)  = base + g%64 * count / 64 + correction
//	run(g)    = Low[start(g):start(g+1)]
//
//	line    | 64 corrections of 7 bits, signed | count | base  | wide | 0 |
//	bits      448                                16      40      1      7
//
// base is the rank of the block's first key, and the bits are those of words 0 to 7,
// lowest first, but for the last word, of which count has the highest. The
// correction of a block's first group is 0, and the zeros at the end are those of
// the group behind its last, so that start(g+1) needs no look at the next line. A block whose corrections or count
// do not fit is wide: the caller has its groups' starts elsewhere. A line behind the last
// block has the number of keys for its base.
type Planar struct {
	Groups    []uint64 // 8 words for each 64 of 1<<GroupBits groups, and 8 more
	Low       []uint16 // Keys + PlanarPad or more
	Keys      uint64   // at most PlanarKeysMax
	GroupBits uint     // 6 to 57
}

const (
	// PlanarWide, in the last word of a line, marks a block whose groups begin
	// elsewhere.
	PlanarWide = 1 << 7
	// PlanarKeysMax is the largest base.
	PlanarKeysMax = 1<<40 - 1
	// PlanarCountMax is the largest count of a block that is not wide.
	PlanarCountMax = 1<<16 - 1
	// PlanarCorrectionMin and PlanarCorrectionMax are the limits of a correction.
	PlanarCorrectionMin = -64
	PlanarCorrectionMax = 63
	// PlanarPad is how many elements of Low stand behind the last key, so that a
	// kernel may load a whole register at any of them.
	PlanarPad = 32
	// PlanarLongest is the longest run that Locate and Scan take.
	PlanarLongest = 1024
)

// Base is the rank of the first key of a block, or the number of keys for the
// block behind the last.
func (p *Planar) Base(block uint64) uint64 { return p.Groups[8*block+7] << 16 >> 24 }

// Wide says whether a block's groups begin elsewhere.
func (p *Planar) Wide(block uint64) bool { return p.Groups[8*block+7]&PlanarWide != 0 }

// SetBlock writes the line of a block that is not wide. starts are the ranks at
// which its groups begin. It reports whether they fit; if not, the line holds only the
// base and the mark of a wide block.
func (p *Planar) SetBlock(block uint64, starts *[64]uint64, end uint64) bool {
	line := p.Groups[8*block:][:8]
	clear(line)
	base, count := starts[0], end-starts[0]
	fits := count <= PlanarCountMax
	for j := range uint64(64) {
		correction := int64(starts[j] - (base + j*count/64))
		fits = fits && correction >= PlanarCorrectionMin && correction <= PlanarCorrectionMax
		bit := 7 * j
		line[bit/64] |= uint64(correction&127) << (bit % 64)
		if bit%64 > 57 {
			line[bit/64+1] |= uint64(correction&127) >> (64 - bit%64)
		}
	}
	if !fits {
		clear(line)
		line[7] = base<<8 | PlanarWide
		return false
	}
	line[7] |= count<<48 | base<<8
	return true
}

// Run is where a group's run begins and ends, if its block is not wide; whatever
// the line says, it is not checked.
func (p *Planar) Run(group uint64) (start, end uint64) {
	line := p.Groups[group/64*8:][:8]
	base, count := line[7]<<16>>24, line[7]>>48
	j := group % 64
	start, end = base+j*count/64, base+(j*count+count)/64
	return start + correction(line, j), end + correction(line, j+1)
}

// correction is number j, 0 to 64, of a line.
func correction(line []uint64, j uint64) uint64 {
	bit := 7 * j
	v := line[bit/64] >> (bit % 64)
	if bit%64 > 57 {
		v |= line[bit/64+1] << (64 - bit%64)
	}
	return uint64(int64(v<<57) >> 57)
}

// PlanarProbe asks one group for keys near Key: the query with a pattern of flips
// applied to its leading bits.
type PlanarProbe struct {
	Key   uint64
	Limit uint16 // a key whose low 16 bits differ in at most this many is a hit; 0 to 64
	Table uint16 // these two are the caller's; not looked at
	Query uint32
}

// PlanarRun is the part of Low that a probe reads.
type PlanarRun struct {
	Start, Len uint64
}

// PlanarHit is an element of Low that a probe asked for.
type PlanarHit struct {
	Pos   uint64 // its index in Low: the key's rank
	Probe uint64 // index of the probe
}

// check panics when slices are too short for the kernels: a programmer's error.
func (p *Planar) check() {
	if p.GroupBits < 6 || p.GroupBits > 57 || uint64(len(p.Groups)) < 1<<p.GroupBits/8+8 ||
		uint64(len(p.Low)) < PlanarPad || p.Keys > uint64(len(p.Low))-PlanarPad {
		panic(fmt.Sprintf("asm: planar table of %d keys, %d group bits, %d words of groups, %d low words",
			p.Keys, p.GroupBits, len(p.Groups), len(p.Low)))
	}
}

// Ahead asks memory for what Locate will read for the probes.
func (p *Planar) Ahead(probes []PlanarProbe) {
	p.check()
	if len(probes) > 0 {
		planarAhead(p, probes)
	}
}

// Locate writes to runs the run of each probe's group and asks memory for it. It
// stops before a probe whose block is wide or whose run is longer than
// PlanarLongest or does not lie within the keys, and returns how many it has done.
// runs must be as long as probes.
//
// Napkin: some 35 instructions a probe, nine cycles; one line of Groups, a byte a
// group: 8 MiB at 2^23 groups, which stays in a large cache; one or two lines of
// Low, which do not: 12 keys are 24 bytes and lie on 1.34 lines.
func (p *Planar) Locate(runs []PlanarRun, probes []PlanarProbe) (done int) {
	p.check()
	runs = runs[:len(probes)]
	if len(probes) == 0 {
		return 0
	}
	raceRead(probes)
	raceWrite(runs)
	if raceEnabled {
		for _, probe := range probes {
			raceRead(p.Groups[probe.Key>>(64-p.GroupBits)/64*8:][:8])
		}
	}
	return planarLocate(runs, probes, p)
}

// Scan finds the elements of the runs that differ from their probe's low 16 bits
// in at most its limit, in the order of runs and positions. It returns how many
// hits it wrote and how many runs are done; done < len(runs) means that dst might
// have no room for what the next run holds. As long as dst has room for
// PlanarLongest hits, every call makes progress. probes must be as long as runs. A
// run that is longer than PlanarLongest or not within the keys is a programmer's
// error and panics.
//
// Napkin, AVX-512: a run of up to 32 elements is one masked load, XOR, popcount and
// comparison, and some ten instructions around them: five cycles. 137 of 65,536
// words are within 2 bits of another: a probe of 12 keys passes 0.025 of them.
func (p *Planar) Scan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe) (hits, done int) {
	p.check()
	probes = probes[:len(runs)]
	raceRead(probes)
	raceRead(runs)
	raceWrite(dst)
	if raceEnabled {
		p.annotate(runs)
	}
	for done < len(runs) {
		n := min(len(runs)-done, planarCall)
		found, ready := planarScan(dst[hits:], runs[done:done+n], probes[done:done+n], p, uint64(done))
		hits += found
		done += ready
		if ready == n {
			continue
		}
		if r := runs[done]; r.Len > PlanarLongest || r.Start > p.Keys || r.Len > p.Keys-r.Start {
			panic(fmt.Sprintf("asm: run of %d elements from %d of %d keys", r.Len, r.Start, p.Keys))
		}
		break
	}
	return hits, done
}

// annotate tells the race detector of the runs that a scan may read.
func (p *Planar) annotate(runs []PlanarRun) {
	for _, r := range runs {
		if r.Start <= p.Keys && r.Len <= p.Keys-r.Start {
			raceRead(p.Low[r.Start:][:r.Len])
		}
	}
}

// planarCall is how many runs one call into assembly takes: at most 128 KiB.
const planarCall = 64
