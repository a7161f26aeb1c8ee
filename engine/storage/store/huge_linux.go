package store

import (
	"golang.org/x/sys/unix"

	"ndd/engine/memory"
)

// adviseHuge asks for a mapped file to be read in huge pages, where all of it may stay
// in memory: 2 MiB at a time then are what is read soon anyway. A refusal costs speed only.
func adviseHuge(b []byte) {
	if uint64(len(b)) >= batchBytes && (memory.Machine{}).Limit(0).Bytes >= uint64(len(b)) {
		unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
