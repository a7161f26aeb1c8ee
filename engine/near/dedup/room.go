package dedup

import (
	"fmt"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/storage/spill"
)

// A room is the memory for reading and comparing the documents of a corpus. Data that grows with their number is in
// columns, which are temporary files, and in arenas. The buffers of an arena take memory of the budget. When the budget
// is used up, further buffers are in temporary files. All other memory is reserved before a step begins.
type room struct {
	o        *ReadOptions
	reserved *memory.Reservation // memory outside of arenas
	results  memory.Arena        // memory of clusters
	spilled  uint64              // number of bytes of arenas in temporary files, in total
}

// free releases the memory.
func (r *room) free() {
	r.reserved.Release()
	r.results.Free()
}

// arena returns an empty arena.
func (r *room) arena() memory.Arena {
	a := memory.Arena{Budget: r.o.Budget, Task: "comparing documents with very many near others"}
	if r.o.Budget != nil && memory.CanMapFile {
		a.Map = func(bytes uint64) ([]byte, error) {
			r.spilled += bytes
			return spill.Memory(r.o.Disk, r.o.TempDir, "clusters")(bytes)
		}
	}
	return a
}

// reserve sets the size of the memory that is reserved outside of arenas.
func (r *room) reserve(task string, bytes uint64) (err error) {
	if r.reserved == nil {
		r.reserved, err = r.o.Budget.Reserve(task, bytes)
		return err
	}
	return r.reserved.Resize(task, bytes)
}

// readConfig reserves the memory for reading, and returns cfg for the memory that remains. It fails if a later step
// cannot succeed.
func (r *room) readConfig(cfg ingest.Config) (ingest.Config, error) {
	known, available := r.knownBytes(0), r.o.Budget.Free()
	cfg = cfg.Fit(available - min(available, known))
	minimum := r.compareBytes()
	if r.o.Copies {
		minimum = max(minimum, rewrite.LeastBytes)
	}
	return cfg, r.reserve("reading", known+max(cfg.NeedBytes(), minimum))
}

// checkCompare reserves the memory for comparing a number of documents, without arenas.
func (r *room) checkCompare(documents int) error {
	return r.reserve(fmt.Sprintf("comparing %d documents", documents), r.knownBytes(documents)+r.compareBytes())
}

// copyBytes returns the memory for copying inputs. Nothing else takes memory meanwhile.
func (r *room) copyBytes() uint64 {
	all := r.o.Budget.Free() + r.reserved.Bytes()
	return max(all-min(all, r.knownBytes(0)), rewrite.LeastBytes)
}

// compareBytes returns the memory of a search outside of arenas.
func (r *room) compareBytes() uint64 {
	bytes := uint64(settleHeap) + cluster.Options{Threads: r.o.Threads}.FixedBytes()
	if t := r.o.Find.Texts; t != nil {
		bytes += uint64(t.memory())
	}
	return bytes
}

// knownBytes returns the memory of known documents during a comparison with a number of documents.
func (r *room) knownBytes(documents int) uint64 {
	if r.o.Find.KnownBytes == nil {
		return 0
	}
	return r.o.Find.KnownBytes(documents)
}

// settleHeap is the memory in the Go heap for choosing the kept documents of clusters that are not very large.
const settleHeap = 4 << 20
