package passages

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"ndd/engine/index/radix"
	"ndd/engine/parallel"
	"ndd/engine/storage/spill"
)

// A sorter sorts records, of two words or three, that do not fit the memory. Its method add may be
// called by many goroutines; each has a list of its own.
type sorter[R spill.Record] struct {
	runs    *spill.Runs[R]
	room    int // records of a list
	threads int // that sort one list

	mu    sync.Mutex
	lists [][]R // sorted, in memory
}

// mergeBytes is the memory of the buffers of a merge.
const mergeBytes = 8 << 20

// newSorter returns a sorter whose lists share an amount of memory.
func newSorter[R spill.Record](o *Options, what string, lists int) *sorter[R] {
	const columns = 24 // of a key and a pair, beside the record and its sorted copy
	each := 2*int64(unsafe.Sizeof(*new(R))) + columns
	return &sorter[R]{runs: spill.NewRuns[R](o.Disk, o.Dir, what, mergeBytes),
		room: int(max(o.MemoryBytes/int64(lists)/each, 1<<10)), threads: max(o.Threads/lists, 1)}
}

// add adds a record to a list, which it returns; a full list becomes a run.
func (s *sorter[R]) add(list []R, r R) ([]R, error) {
	list = append(list, r)
	if len(list) < s.room {
		return list, nil
	}
	sorted := sortRecords(list, s.threads)
	return list[:0], s.runs.Spill(sorted)
}

// end takes a list that is not full.
func (s *sorter[R]) end(list []R) {
	if len(list) > 0 {
		sorted := sortRecords(list, s.threads)
		s.mu.Lock()
		s.lists = append(s.lists, sorted)
		s.mu.Unlock()
	}
}

// all yields the records in order.
func (s *sorter[R]) all() iter.Seq2[R, error] { return s.runs.Merge(s.lists) }

func (s *sorter[R]) close() error {
	s.lists = nil
	return s.runs.Close()
}

// words returns the words of a record.
func words[R spill.Record](r *R) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(r)), unsafe.Sizeof(*r)/8)
}

// sortRecords returns the records in order of their words.
func sortRecords[R spill.Record](records []R, threads int) []R {
	keys, all := make([]uint64, len(records)), uint64(0)
	for i := range records {
		keys[i] = words(&records[i])[0]
		all |= keys[i]
	}
	// the leading zeros that all keys have would leave most buckets empty
	mask := ^uint64(0) >> bits.LeadingZeros64(all)
	pairs := make([]radix.Pair, len(records))
	radix.Pairs(pairs, keys, max(mask, 1), threads)
	sorted := make([]R, len(records))
	compare := func(a, b R) int { return slices.Compare(words(&a)[1:], words(&b)[1:]) }
	from := 0 // of records with one key
	for i := range pairs {
		sorted[i] = records[pairs[i][1]]
		if i+1 < len(pairs) && pairs[i+1][0] == pairs[i][0] {
			continue
		}
		if equal := sorted[from : i+1]; len(equal) > 1 && !slices.IsSortedFunc(equal, compare) {
			slices.SortFunc(equal, compare)
		}
		from = i + 1
	}
	return sorted
}

// groups calls work, on all threads, with the records that share a number of first words,
// and more than one. Each worker has a list of repeats, which become sorted.
func groups[R spill.Record](ctx context.Context, o *Options, marks *sorter[R], shared int, what string,
	work func() func(group []R, emit func(repeat) error) error) (_ *spill.Run[repeat], err error) {
	twice, err := spill.Create[R](o.Disk, o.Dir, what, 1<<18)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, twice.Close()) }()
	if err := repeated(marks, shared, twice); err != nil {
		return nil, err
	}
	if err := marks.close(); err != nil { // before the next files are written
		return nil, err
	}
	all, err := twice.Map()
	if err != nil {
		return nil, err
	}
	out := newSorter[repeat](o, "repeats", max(o.Threads, 1))
	defer func() { err = errors.Join(err, out.close()) }()
	produce := func(_ context.Context, yield func([]R) bool) error {
		for len(all) > 0 {
			n := min(len(all), 1<<15)
			for n < len(all) && same(&all[n-1], &all[n], shared) {
				n++
			}
			if !yield(all[:n]) {
				return nil
			}
			all = all[n:]
		}
		return nil
	}
	one := func(ctx context.Context, items iter.Seq[[]R]) error {
		var list []repeat
		group := work()
		emit := func(r repeat) (err error) {
			list, err = out.add(list, r)
			return err
		}
		for some := range items {
			for len(some) > 0 {
				n := 1
				for n < len(some) && same(&some[0], &some[n], shared) {
					n++
				}
				if err := cmp.Or(ctx.Err(), group(some[:n], emit)); err != nil {
					return err
				}
				some = some[n:]
			}
		}
		out.end(list)
		return nil
	}
	err = parallel.Each(ctx, parallel.Options{Workers: max(o.Threads, 1)}, produce, one)
	closed := twice.Close() // before the next files are written
	if twice = nil; err != nil || closed != nil {
		return nil, errors.Join(err, closed)
	}
	return gather(o, out)
}

// same reports whether records share their first words.
func same[R spill.Record](a, b *R, shared int) bool {
	return slices.Equal(words(a)[:shared], words(b)[:shared])
}

// repeated appends the records that share their first words with another.
func repeated[R spill.Record](marks *sorter[R], shared int, to *spill.Run[R]) error {
	var last R
	some, held := false, false // there is a last record; it is not appended yet
	var list []R
	for r, err := range marks.all() {
		if err != nil {
			return err
		}
		if some && same(&last, &r, shared) {
			if held {
				list = append(list, last)
			}
			list, held = append(list, r), false
		} else {
			held = true
		}
		if last, some = r, true; len(list) >= 1<<12 {
			if err := to.Append(list); err != nil {
				return err
			}
			list = list[:0]
		}
	}
	return to.Append(list)
}

// gather returns a run of all records.
func gather[R spill.Record](o *Options, s *sorter[R]) (*spill.Run[R], error) {
	run, err := spill.Create[R](o.Disk, o.Dir, "repeats", 1<<18)
	if err != nil {
		return nil, err
	}
	list := make([]R, 0, 1<<12)
	for r, err := range s.all() {
		if err == nil {
			if list = append(list, r); len(list) == cap(list) {
				err = run.Append(list)
				list = list[:0]
			}
		}
		if err != nil {
			return nil, errors.Join(err, run.Close())
		}
	}
	if err := run.Append(list); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return run, nil
}
