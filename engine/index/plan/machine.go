package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
)

// A Machine has the costs of random reads on one machine. The costs of instructions are those of the reference machine:
// they differ less.
type Machine struct {
	reads []read // measurements by ascending bytes
}

// measuredMax is the memory that [Measure] reads, if it is available: far more than the caches of most processors.
const measuredMax = 256 << 20

// Measure returns the costs of this machine. It takes about 0.1 s, and 256 MiB of memory or the part of it that is
// available. It returns an error if there is less than 1 MiB.
func Measure(available uint64) (*Machine, error) {
	size := uint64(measuredMax)
	for size > max(available, 1<<20) {
		size /= 2
	}
	buffer, err := memory.Make[uint64](int(size / 8))
	if err != nil {
		return nil, err
	}
	defer buffer.Free()
	clear(buffer.Data) // the system provides memory when it is written
	m := new(Machine)
	for _, r := range reference.reads {
		if r.bytes <= float64(size) {
			m.reads = append(m.reads, timeReads(buffer.Data[:int(r.bytes)/8]))
		}
	}
	// Beyond the measured memory, reads become slower as on the reference machine.
	last := m.reads[len(m.reads)-1]
	ref := reference.readAmong(last.bytes)
	for _, r := range reference.reads[len(m.reads):] {
		m.reads = append(m.reads, read{r.bytes, last.batch * r.batch / ref.batch, last.single * r.single / ref.single})
	}
	return m, nil
}

// Misses returns the nanoseconds of a cache miss in the largest memory that was measured, with an address that is known
// in advance, and with one that the previous miss gives.
func (m *Machine) Misses() (independent, dependent float64) {
	r := m.readAmong(measuredMax)
	return r.batch, r.single
}

// timeReads returns the costs of random reads of data, which is zero. It takes the minimum of some milliseconds,
// because other programs only add to them.
func timeReads(data []uint64) read {
	const rounds, pass, waiting = 64, 64, 512
	rng := rand.New(rand.NewPCG(1, uint64(len(data))))
	index, value := make([]uint64, waiting+4096), uint64(0)
	r := read{float64(8 * len(data)), math.Inf(1), math.Inf(1)}
	for range rounds {
		for i := range index {
			index[i] = rng.Uint64N(uint64(len(data)))
		}
		start := time.Now()
		for _, i := range index[:waiting] {
			value = data[i+value]
		}
		r.single = min(r.single, float64(time.Since(start))/waiting)
		start = time.Now()
		for part := range slices.Chunk(index[waiting:], pass) {
			asm.PrefetchAt(data, part)
			for _, i := range part {
				value += data[i]
			}
		}
		r.batch = min(r.batch, float64(time.Since(start))/float64(len(index)-waiting))
	}
	return r
}

// readAmong returns the cost of a random line in memory of that size. It interpolates linearly in the logarithm
// between the measured sizes.
func (m *Machine) readAmong(bytes float64) read {
	for i, high := range m.reads {
		if bytes > high.bytes {
			continue
		}
		if i == 0 {
			return high
		}
		low := m.reads[i-1]
		x := math.Log(bytes/low.bytes) / math.Log(high.bytes/low.bytes)
		return read{bytes, low.batch + x*(high.batch-low.batch), low.single + x*(high.single-low.single)}
	}
	return m.reads[len(m.reads)-1]
}

// extra returns the additional cost of reading a line from memory instead of from the cache.
func (m *Machine) extra(bytes float64) read {
	fast, slow := m.reads[0], m.readAmong(bytes)
	return read{slow.bytes, max(0, slow.batch-fast.batch), max(0, slow.single-fast.single)}
}

// line returns the cost of one more line of a block if a random line costs r.
func (m *Machine) line(r read) float64 {
	return lineShare * min(r.batch, m.extra(lineReads).batch)
}
