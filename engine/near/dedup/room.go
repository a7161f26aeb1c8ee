package dedup

import (
	"fmt"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/storage/spill"
)

// A room is the memory for reading and comparing the documents of a corpus.
type room struct {
	o        *ReadOptions
	reserved *memory.Reservation // part of o.Budget, for everything
	spilled  bool                // true if clusters are in temporary files, too
	results  memory.Arena        // memory of clusters
}

// free releases the memory.
func (r *room) free() {
	r.reserved.Release()
	r.results.Free()
}

// reserve reserves and reports the memory for a number of documents. The number is 0 before documents are read. If the
// memory is too small to compare them, clusters will be in temporary files.
func (r *room) reserve(documents int) error {
	what := fmt.Sprintf("comparing %d documents", documents)
	if documents == 0 {
		what = "reading"
	}
	if r.reserved == nil {
		r.reserved, _ = r.o.Budget.Reserve(what, 0) // 0 bytes always fit
	}
	err := r.reserved.Resize(what, r.needBytes(documents))
	if err != nil && documents > 0 && memory.CanMapFile {
		r.spilled = true
		err = r.reserved.Resize(what, r.needBytes(documents))
	}
	if r.o.Say != nil {
		r.o.Say(documents, r.needBytes(documents), r.spilled)
	}
	return err
}

// mapping returns the function that allocates memory for data that grows with the number of documents. It returns nil
// for the system's memory.
func (r *room) mapping() func(bytes uint64) ([]byte, error) {
	if !r.spilled {
		return nil
	}
	return spill.Memory(r.o.Disk, r.o.TempDir, "clusters")
}

// reading returns cfg for the memory that remains for reading.
func (r *room) reading(cfg ingest.Config) ingest.Config {
	beside := r.besideBytes(0)
	cfg = cfg.Fit(r.o.Budget.Left() - min(r.o.Budget.Left(), beside))
	r.o.readingBytes = cfg.NeedBytes()
	return cfg
}

// copying returns the memory for copying inputs. Nothing else takes memory meanwhile.
func (r *room) copying() uint64 {
	all := r.o.Budget.Left() + r.reserved.Bytes()
	return max(all-min(all, r.besideBytes(0)), rewrite.LeastBytes)
}

// needBytes returns the peak memory for a number of documents: the maximum for reading, comparing and copying, plus the
// memory that is held at the same time. If more than an eighth of the documents are near others, they need more memory.
// It is reserved when their number is known. Columns are in temporary files.
func (r *room) needBytes(documents int) uint64 {
	o := cluster.Options{Threads: r.o.Threads}
	find := o.NeedBytes(uint64(documents))
	if r.spilled {
		find = o.NeedBytes(0)
	}
	find = max(find+settleHeap, r.o.readingBytes)
	if r.o.Copies {
		find = max(find, rewrite.LeastBytes)
	}
	return r.besideBytes(documents) + find
}

// besideBytes returns the memory that is held during the search for clusters.
func (r *room) besideBytes(documents int) (bytes uint64) {
	if known := r.o.Find.KnownBytes; known != nil {
		bytes = known(documents) // the collector may not have released it yet
	}
	if t := r.o.Find.Texts; t != nil {
		bytes += uint64(t.memory())
	}
	return bytes
}

// settleHeap is the memory in the Go heap for choosing the kept documents of clusters that are not very large.
const settleHeap = 4 << 20

// forClusters sets the memory of a search for clusters. The search takes the reserved bytes, and reserves more if many
// documents are near others.
func (r *room) forClusters(documents int, o *cluster.Options) {
	beside := r.besideBytes(documents) + settleHeap
	if r.reserved == nil || r.reserved.Bytes() < beside {
		return
	}
	o.Memory, o.Results = r.reserved.Bytes()-beside, &r.results
	if r.results.Map = r.mapping(); r.spilled {
		o.Memory = 1 // all memory comes from Room
	}
	o.Room = func(bytes uint64) (a memory.Arena, err error) {
		if beside+bytes > r.reserved.Bytes() && !r.spilled {
			err = r.reserved.Resize("comparing documents of which very many are near others", beside+bytes)
			if err != nil && memory.CanMapFile {
				r.spilled, err = true, nil
			}
			if r.spilled {
				bytes = max(r.needBytes(documents), beside) - beside
			}
			if r.o.Say != nil {
				r.o.Say(documents, beside+bytes, r.spilled)
			}
		}
		a.Map = r.mapping()
		r.results.Map = a.Map
		return a, err
	}
}
