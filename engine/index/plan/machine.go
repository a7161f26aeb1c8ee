package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ndd/engine/index/table"
)

// A Machine is the costs of one machine, in nanoseconds on one thread. The zero
// value is of no use: take [Reference] or [Measure].
type Machine struct {
	Kernel  string                 `json:"kernel"`  // of package asm
	Reads   []Read                 `json:"reads"`   // by ascending Bytes; at least one
	LineNS  float64                `json:"line_ns"` // one more 64-byte line of a run read in order
	CacheB  uint64                 `json:"cache"`   // bytes of the last cache; 0: unknown
	Layouts map[table.Layout]Costs `json:"layouts"` // instructions of each layout, in cache
}

// A Read is the cost of reading a random 64-byte line among Bytes of memory.
type Read struct {
	Bytes    uint64  `json:"bytes"`
	Together float64 `json:"together_ns"` // one of many that are under way at once
	Alone    float64 `json:"alone_ns"`    // when the next one depends on it

	// One more line of half a huffman block, asked for with the random one: no page to look up, but it too is a miss that a core
	// has under way, of which there are a dozen or so at a time. 0: not measured; LineNS stands for it.
	Beside float64 `json:"beside_ns,omitempty"`
}

// Costs are the instructions of a search in one layout, everything in cache.
type Costs struct {
	CallNS  float64 `json:"call_ns"`           // a query that comes alone
	QueryNS float64 `json:"query_ns"`          // each table, for a query that comes alone
	TableNS float64 `json:"table_ns"`          // each table, for a query in a batch
	ProbeNS float64 `json:"probe_ns"`          // a probe and its first unit
	ListNS  float64 `json:"list_ns,omitempty"` // and where each query lists its own flips, being too many to be prepared (planar)
	UnitNS  float64 `json:"unit_ns"`           // a further unit: huffman block, planar bucket
	PassNS  float64 `json:"pass_ns"`           // a key that passed a comparison of its low bits (planar)
}

// Check returns an error that says what is wrong with costs that were read from a file.
func (m *Machine) Check() error {
	if len(m.Reads) == 0 {
		return errors.New("a machine without costs of reads")
	}
	good := func(ns float64) bool { return ns >= 0 && ns < 1e9 }
	if !good(m.LineNS) {
		return errors.New("a machine whose lines take no time that can be")
	}
	for i, r := range m.Reads {
		if !good(r.Together) || !good(r.Alone) || !good(r.Beside) || r.Bytes == 0 || i > 0 && r.Bytes <= m.Reads[i-1].Bytes {
			return fmt.Errorf("read %d of %d: bytes must ascend and times be below a second", i, len(m.Reads))
		}
	}
	for _, md := range models {
		c, ok := m.Layouts[md.layout()]
		if !ok {
			return fmt.Errorf("a machine without costs of the %s layout", md.layout())
		}
		for _, ns := range []float64{c.CallNS, c.QueryNS, c.TableNS, c.ProbeNS, c.ListNS, c.UnitNS, c.PassNS} {
			if !good(ns) {
				return fmt.Errorf("%s layout: times must not be negative and be below a second", md.layout())
			}
		}
	}
	return nil
}

// read returns the cost of a random line among so many bytes: linear in the
// logarithm between the sizes measured. Beyond the largest, the part that the
// last cache holds falls as 1/bytes, and what it does not hold costs what the
// last measurement implies.
func (m *Machine) read(bytes float64) Read {
	r := m.Reads
	at, found := slices.BinarySearchFunc(r, bytes, func(r Read, b float64) int {
		switch {
		case float64(r.Bytes) < b:
			return -1
		case float64(r.Bytes) > b:
			return 1
		}
		return 0
	})
	switch {
	case found || at == 0:
		return r[min(at, len(r)-1)]
	case at < len(r):
		low, high := r[at-1], r[at]
		x := math.Log(bytes/float64(low.Bytes)) / math.Log(float64(high.Bytes)/float64(low.Bytes))
		between := func(low, high float64) float64 { return low + x*(high-low) }
		return Read{uint64(bytes), between(low.Together, high.Together), between(low.Alone, high.Alone), between(low.Beside, high.Beside)}
	}
	last := r[len(r)-1]
	cache := m.cached()
	if cache.Bytes == 0 {
		return last
	}
	share := func(bytes float64) float64 { return min(0.75, float64(m.CacheB)/bytes) }
	beyond := func(cached, mixed float64) float64 {
		then := share(float64(last.Bytes))
		far := max(mixed, (mixed-then*cached)/(1-then))
		there := share(bytes)
		return there*cached + (1-there)*far
	}
	return Read{uint64(bytes), beyond(cache.Together, last.Together), beyond(cache.Alone, last.Alone), beyond(cache.Beside, last.Beside)}
}

// cached returns the read measured in the largest working set that the last cache
// holds with ease.
func (m *Machine) cached() (c Read) {
	for _, r := range m.Reads {
		if 2*r.Bytes <= m.CacheB {
			c = r
		}
	}
	return c
}

// extra returns what a line costs beyond what the same code pays in cache.
func (m *Machine) extra(bytes float64) Read {
	near, far := m.Reads[0], m.read(bytes)
	return Read{far.Bytes, max(0, far.Together-near.Together), max(0, far.Alone-near.Alone), max(0, far.Beside-near.Beside)}
}

// lineAmong returns what one more line of a block takes in memory where a random one takes read. Where that is not measured it is as much
// less than LineNS, which was measured where the largest read was, up to readsTo bytes, as a random line takes less there.
func (m *Machine) lineAmong(read Read) float64 {
	if m.Reads[len(m.Reads)-1].Beside > 0 {
		return read.Beside
	}
	largest := m.extra(min(readsTo, float64(m.Reads[len(m.Reads)-1].Bytes)))
	if read.Together >= largest.Together {
		return m.LineNS
	}
	return min(m.LineNS*read.Together/largest.Together, read.Together)
}
