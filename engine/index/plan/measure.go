package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"

	"ndd/asm"
	"ndd/engine/memory"
)

// The sizes at which reads are measured: the first is where a trial table
// lies, the last is beyond the caches of most machines and still quick to fill.
const (
	readsFrom = 256 << 10
	readsTo   = 256 << 20
	readsStep = 8 // each size is so many times the one before
)

// Here is this machine, measured as far as an index of so many fingerprints
// needs, and as half of what the budget has left allows: at once when it was
// measured as far before, in well under a second otherwise. The kernels are
// those chosen in package asm.
func Here(fingerprints uint64, b *memory.Budget) (*Machine, error) {
	bytes := NeedBytes(fingerprints, b)
	here.Lock()
	defer here.Unlock()
	if here.machine != nil && here.machine.Kernel == asm.Backend() && here.bytes >= bytes {
		return here.machine, nil
	}
	reserved, err := b.Reserve("measuring this machine", bytes)
	if err != nil {
		return nil, err
	}
	defer reserved.Release()
	m, err := measure(bytes)
	if err != nil {
		return nil, err
	}
	here.machine, here.bytes = m, bytes
	return m, nil
}

// NeedBytes returns the memory that [Here] takes while it measures.
func NeedBytes(fingerprints uint64, b *memory.Budget) uint64 {
	const bytesEach = 64 // tables of a dozen
	return max(min(min(fingerprints, readsTo)*bytesEach, readsTo, b.Left()/2&^63), readsFrom)
}

// here remembers what was measured in this process.
var here struct {
	sync.Mutex
	machine *Machine
	bytes   uint64
}

// measure measures this machine with the kernels chosen, reads up to a working
// set of tableBytes, for which it takes that much memory, 256 MiB at most. The
// error says that the memory could not be had.
//
// Every figure is the least of several short repetitions: what disturbs only
// ever adds.
func measure(tableBytes uint64) (*Machine, error) {
	m := &Machine{Kernel: asm.Backend(), CacheB: lastCache()}
	sizes := []uint64{readsFrom}
	for last := sizes[0]; last < min(tableBytes&^63, readsTo); {
		last = min(last*readsStep, tableBytes&^63, readsTo)
		sizes = append(sizes, last)
	}
	buffer, err := memory.Make[uint64](int(sizes[len(sizes)-1] / 8))
	if err != nil {
		return nil, fmt.Errorf("measuring memory: %w", err)
	}
	defer buffer.Free()
	p := patienceFor(tableBytes)
	m.LineNS = lineCost(buffer.Data)
	for _, s := range sizes {
		m.Reads = append(m.Reads, p.readCost(buffer.Data[:s/8]))
	}
	// Disturbance must not make a larger working set look cheaper.
	for i := 1; i < len(m.Reads); i++ {
		m.Reads[i].Together = max(m.Reads[i].Together, m.Reads[i-1].Together)
		m.Reads[i].Alone = max(m.Reads[i].Alone, m.Reads[i-1].Alone)
	}
	if m.Layouts, err = p.trials(); err != nil {
		return nil, err
	}
	return m, nil
}

// lastCache is the size of the largest cache, 0 when the processor does not say.
func lastCache() uint64 { return uint64(max(cpuid.CPU.Cache.L3, cpuid.CPU.Cache.L2, 0)) }

// patience is how long a figure is looked for. Another program may have the
// processor for some milliseconds.
type patience time.Duration

// patienceFor is that for tables of so many bytes: where a wrong choice costs
// little, it is made soon.
func patienceFor(tableBytes uint64) patience {
	if tableBytes <= 64<<20 {
		return patience(4 * time.Millisecond)
	}
	return patience(20 * time.Millisecond)
}

// least is the least time of f in ns, over so many repetitions or more; before
// each of them comes prepare.
func (p patience) least(repetitions int, prepare, f func()) float64 {
	best := math.Inf(1)
	for begun := time.Now(); repetitions > 0 || time.Since(begun) < time.Duration(p); repetitions-- {
		prepare()
		begin := time.Now()
		f()
		best = min(best, float64(time.Since(begin)))
	}
	return best
}

// readCost reads random lines of data: first many at once, then each where the
// one before says. data is zero, so that what was read can take part in the
// next address without changing it.
func (p patience) readCost(data []uint64) Read {
	const together, alone = 1 << 12, 1 << 9
	lines := uint64(len(data) / 8)
	rng := rand.New(rand.NewPCG(1, uint64(len(data))))
	index := make([]uint64, together)
	sum := uint64(0)
	draw := func(n int) {
		for i := range index[:n] {
			index[i] = rng.Uint64N(lines) * 8
		}
	}
	r := Read{Bytes: uint64(8 * len(data))}
	// New lines each time: the old ones are in cache now.
	r.Together = p.least(8, func() {
		draw(together)
	}, func() {
		for part := index[:together]; len(part) > 0; part = part[passReads:] {
			asm.PrefetchAt(data, part[:passReads])
			for _, i := range part[:passReads] {
				sum += data[i]
			}
		}
	}) / together
	r.Alone = p.least(8, func() {
		draw(alone)
	}, func() {
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

// passReads is how many reads are under way at once, as in a pass of probes.
const passReads = 64

// lineCost reads stretches of data in order, by the scan kernel: the cost of a
// line, which the first quarter of them stays below.
func lineCost(data []uint64) float64 {
	const stretches, length = 64, 16 << 10 // 128 KiB each
	step := max((len(data)-length)/stretches, 0)
	found := make([]uint32, 64)
	var costs []float64
	for i := range stretches {
		part := data[i*step:][:min(length, len(data))]
		begin := time.Now()
		if n, _ := asm.Within64(found, part, ^uint64(0), 0); n != 0 {
			panic("plan: memory that nobody wrote is not zero")
		}
		costs = append(costs, float64(time.Since(begin))/(float64(len(part))/8))
	}
	slices.Sort(costs)
	return costs[stretches/4]
}
