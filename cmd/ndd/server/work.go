package server

import (
	"math/bits"
	"sync/atomic"
	"time"

	"ndd/engine"
)

// What requests cost, roughly, on one core: a gate measures how far that is off, and waits accordingly.
const (
	requestWork    = 20 * time.Microsecond // of HTTP and JSON, of the smallest
	byteWork       = 40 * time.Nanosecond  // of a body: JSON, HTML, tokens, features
	probeWork      = 40 * time.Nanosecond
	batchProbeWork = 20 * time.Nanosecond // of many, whose cache misses overlap
	batchRowWork   = time.Microsecond     // of what one of them finds: its document, the ID and the row
)

// workOf estimates what requests cost. The probes of a query change with the index, and are counted again once a second.
type workOf struct {
	probes  atomic.Int64
	counted atomic.Int64 // when, in Unix nanoseconds
}

// probesMax keeps estimates from overflowing.
const probesMax = 1 << 20

func (w *workOf) probesOf(x *engine.Index) time.Duration {
	now, before := time.Now().UnixNano(), w.counted.Load()
	if now-before > int64(time.Second) && w.counted.CompareAndSwap(before, now) {
		design, t := x.Design(), x.Stats()
		w.probes.Store(int64(min(max(t.Segments, 1)*min(design.Probes(bits.Len64(t.Fingerprints)), probesMax), probesMax)))
	}
	return time.Duration(w.probes.Load())
}

// query returns the work of a query, or of an insert, with a body of so many bytes.
func (w *workOf) query(x *engine.Index, body int) time.Duration {
	return requestWork + byteWork*time.Duration(body) + probeWork*w.probesOf(x)
}

// batch returns the work of a batch whose body has so many bytes.
func (w *workOf) batch(x *engine.Index, body int) time.Duration {
	return requestWork + (batchRowWork+batchProbeWork*w.probesOf(x))*time.Duration(body/8)
}
