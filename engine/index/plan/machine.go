package plan

import "math"

// A machine has the costs of random reads on one machine.
type machine struct {
	reads []read // measurements by ascending bytes
}

// readAmong returns the cost of a random line in memory of that size. It interpolates linearly in the logarithm
// between the measured sizes.
func (m *machine) readAmong(bytes float64) read {
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
func (m *machine) extra(bytes float64) read {
	fast, slow := m.reads[0], m.readAmong(bytes)
	return read{slow.bytes, max(0, slow.batch-fast.batch), max(0, slow.single-fast.single)}
}

// line returns the cost of one more line of a block if a random line costs r.
func (m *machine) line(r read) float64 {
	return lineShare * min(r.batch, m.extra(lineReads).batch)
}
