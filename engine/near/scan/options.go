package scan

import (
	"runtime"

	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

// Options configures a scan. Its zero value is one on all processors, without a limit of memory.
type Options struct {
	Threads      int               // goroutines that map; 0 or less: as many as there are processors
	Budget       *memory.Budget    // from which memory is reserved; nil: no limit
	Temp         string            // folder for hits that do not fit in memory; empty: that of the system
	Disk         *disk.Disk        // that the folder is on; nil: the system's
	First        uint64            // row of the first query
	Fingerprints uint64            // how many F has; 0: it is not known
	Once         bool              // F can be read once only, such as a pipe
	Counted      bool              // hits are counted, not kept: see Count
	Progress     func(done uint64) // unless nil, called with the number of fingerprints done, by several goroutines, not always in order

	hitBytes uint64 // of memory for hits, beyond which they go to files; 0: 1 GiB
}

func (o *Options) setDefaults() {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.hitBytes == 0 {
		o.hitBytes = hitBytesMax
	}
}
