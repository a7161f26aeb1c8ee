package dedup

import (
	"context"
	"math"
	"strings"
	"sync"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/shingle"
)

// shingle reads the documents again and puts the sets of the members, which
// are ascending, into s.
func (c *Corpus) shingle(ctx context.Context, v *Verify, s *shingle.Sets, members []uint32, threads int) error {
	row, next := -1, 0
	member := map[int]int{} // by unit, of those that are on their way
	var mu sync.Mutex       // of member
	made := 0
	report, err := ingest.Extract(ctx, c.inputs, c.again(v, threads), ingest.Steps[struct{}]{
		Want: func(unit int) bool {
			if !c.units.has(unit) {
				return false
			}
			if row++; next == len(members) || uint32(row) != members[next] {
				return false
			}
			mu.Lock()
			member[unit] = next
			mu.Unlock()
			next++
			return true
		},
		Worker: func() (func(int, *document.Document) (struct{}, error), error) {
			shingler, err := shingle.New(v.Shingles)
			var set []uint64
			return func(unit int, doc *document.Document) (none struct{}, err error) {
				mu.Lock()
				i := member[unit]
				delete(member, unit)
				mu.Unlock()
				if !c.same(members[i], doc) {
					return none, changed(c.ID(members[i]))
				}
				set = shingler.Append(set[:0], doc.Text)
				return none, s.Put(i, set)
			}, err
		},
		Emit: func(struct{}) error { made++; return nil },
	})
	if err == nil && (report.Units != c.scanned || made != len(members)) {
		return changed(strings.Join(c.inputs, ", "))
	}
	return err
}

// again returns how documents are read another time: what was skipped then is skipped now.
func (c *Corpus) again(v *Verify, threads int) ingest.Config {
	cfg := ingest.Config{Document: c.options, Threads: threads}
	cfg.Document.Meter, cfg.Document.Strict = v.Meter, false
	return cfg
}

// same returns whether the document of a row is what it was.
func (c *Corpus) same(row uint32, doc *document.Document) bool {
	return doc.ID == c.ID(row) && uint32(min(uint64(len(doc.Text)), math.MaxUint32)) == c.lengths[row]
}
