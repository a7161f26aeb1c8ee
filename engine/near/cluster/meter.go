package cluster

import "sync/atomic"

// A Meter counts what [Find] has done so far. Anyone may read it at any time.
type Meter struct {
	Total    atomic.Int64 // fingerprints to compare, once for each table; 0 while that is unknown
	Compared atomic.Int64 // of them
	Joined   atomic.Int64 // how many fewer clusters there are so far than distinct fingerprints, single ones counted
}

func (m *Meter) begin(fingerprints int) {
	if m != nil {
		m.Total.Store(int64(fingerprints))
	}
}

func (m *Meter) compared(fingerprints int) {
	if m != nil {
		m.Compared.Add(int64(fingerprints))
	}
}

func (m *Meter) joined() {
	if m != nil {
		m.Joined.Add(1)
	}
}
