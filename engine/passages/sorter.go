package passages

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"unsafe"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/parallel"
	"example.org/ndd/engine/storage/spill"
)

// mergeBytes is the memory of the buffers of a merge.
const mergeBytes = 8 << 20

// newSorter returns a sorter of records. Its writers share the memory of the options.
func newSorter[R spill.Record](o *Options, task string, writers int) *radix.Records[R] {
	const columns = 24 // bytes of a key and a pair, in addition to the record and its sorted copy
	each := 2*int64(unsafe.Sizeof(*new(R))) + columns
	return radix.NewRecords(spill.NewRuns[R](o.Disk, "", task, mergeBytes),
		int(max(o.MemoryBytes/int64(writers)/each, 1<<10)), max(o.Threads/writers, 1))
}

// groups calls work on all threads with each group of at least two records that share their first words. Each
// worker writes a list of repeats. groups returns all repeats, sorted.
func groups[R spill.Record](ctx context.Context, o *Options, marks *radix.Records[R], shared int, task string,
	work func(context.Context) func(group []R, emit func(repeat) error) error) (_ *spill.Run[repeat], err error) {
	// Collect the marks that share their first words with another mark.
	repeats := spill.NewColumn[R](o.Disk, "", task, 1<<18)
	defer func() { err = errors.Join(err, repeats.Close()) }()
	// Marks are closed before the next files are written.
	if err := cmp.Or(appendRepeated(marks, shared, &repeats), marks.Close(), repeats.End()); err != nil {
		return nil, err
	}
	// Divide them into parts of whole groups.
	all := repeats.All
	out := newSorter[repeat](o, "repeats", max(o.Threads, 1))
	defer func() { err = errors.Join(err, out.Close()) }()
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
	// Each worker writes the repeats of its groups to a list of its own.
	sortChunk := func(ctx context.Context, items iter.Seq[[]R]) error {
		list, group := out.Writer(), work(ctx)
		for chunk := range items {
			for len(chunk) > 0 {
				n := 1
				for n < len(chunk) && same(&chunk[0], &chunk[n], shared) {
					n++
				}
				if err := cmp.Or(ctx.Err(), group(chunk[:n], list.Add)); err != nil {
					return err
				}
				chunk = chunk[n:]
			}
		}
		list.Close()
		return nil
	}
	// Work on all parts, and merge the lists.
	err = parallel.Each(ctx, parallel.Options{Workers: max(o.Threads, 1)}, produce, sortChunk)
	if err = errors.Join(err, repeats.Close()); err != nil { // before the next files are written
		return nil, err
	}
	return out.Run()
}

// same reports whether the first words of two records are equal.
func same[R spill.Record](a, b *R, shared int) bool {
	return slices.Equal(spill.Words(a)[:shared], spill.Words(b)[:shared])
}

// appendRepeated appends the records that share their first words with another record.
func appendRepeated[R spill.Record](marks *radix.Records[R], shared int, to *spill.Column[R]) error {
	var last R
	some, held := false, false // there is a last record; it has not been appended yet
	for r, err := range marks.All() {
		if err != nil {
			return err
		}
		if some && same(&last, &r, shared) {
			if held {
				to.Append(last)
			}
			if err := to.Append(r); err != nil {
				return err
			}
			held = false
		} else {
			held = true
		}
		last, some = r, true
	}
	return nil
}
