package asm

import "fmt"

// Planar is what a probe reads of a planar table (package engine/table has its
// format): where groups begin, and the low 16 bits of every key.
//
//	group g     = the top GroupBits bits of a key
//	block b     = g/64, its first rank Starts[b], its keys count = Starts[b+1] - Starts[b]
//	start(g)    = Starts[b] + g%64 * count / 64 + Corrections[g]
//	run(g)      = Low[start(g):start(g+1)]
//
// A block whose corrections do not fit is wide: bit 63 of its Starts is set, and
// the caller has its groups' starts elsewhere. Corrections of a block's first group
// are 0, so that start(g+1) needs no look at the next block.
type Planar struct {
	Starts      []uint64 // (1<<GroupBits)/64 + 1
	Corrections []int8   // at least 1<<GroupBits + 1
	Low         []uint16 // Keys + PlanarPad or more
	Keys        uint64
	GroupBits   uint // 6 to 57
}

const (
	// PlanarWide marks a block of Starts whose groups begin elsewhere.
	PlanarWide = 1 << 63
	// PlanarPad is how many elements of Low stand behind the last key, so that a
	// kernel may load a whole register at any of them.
	PlanarPad = 32
	// PlanarLongest is the longest run that Locate and Scan take.
	PlanarLongest = 1024
)

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
	if p.GroupBits < 6 || p.GroupBits > 57 || uint64(len(p.Corrections)) <= 1<<p.GroupBits ||
		uint64(len(p.Starts)) <= 1<<(p.GroupBits-6) || uint64(len(p.Low)) < PlanarPad || p.Keys > uint64(len(p.Low))-PlanarPad {
		panic(fmt.Sprintf("asm: planar table of %d keys, %d group bits, %d starts, %d corrections, %d low halves",
			p.Keys, p.GroupBits, len(p.Starts), len(p.Corrections), len(p.Low)))
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
// Napkin: some 30 instructions a probe, eight cycles; one line each of Starts and
// Corrections, 9 bits a group together: 9 MiB at 2^23 groups, which stays in a
// large cache; one or two lines of Low, which do not: 12 keys are 24 bytes and lie
// on 1.34 lines.
func (p *Planar) Locate(runs []PlanarRun, probes []PlanarProbe) (done int) {
	p.check()
	runs = runs[:len(probes)]
	if len(probes) == 0 {
		return 0
	}
	raceRead(probes)
	raceWrite(runs)
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

// planarCall is how many runs one call into assembly takes: at most 128 KiB.
const planarCall = 64
