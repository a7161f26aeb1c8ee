package live

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/radix"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/generations"
	"ndd/engine/storage/store"
)

// ErrMixed is what an error wraps when fingerprints of different recipes, or
// named and unnamed documents, are put together.
var ErrMixed = simhash.ErrMixed

// BuildOptions say how an index is built.
type BuildOptions struct {
	segment.Options
	Choice     *Choice // why the index has its tables, for it to remember; may be nil
	Replace    bool    // an index that stands there, when the new one is complete
	Sketches   bool    // keep the documents' sketches, which all files must have
	NoSketches bool    // keep none of later documents either
	NoIDs      bool    // keep the documents' numbers, and not the IDs that files have

	OnConflict rows.OnConflict   // of documents of [Build] with one ID; 0 keeps all
	Dropped    func(docs uint64) // receives how many documents that drops; may be nil
}

// PlanBuild returns how [Build] will build an index of so many documents, with the memory that
// it will take, or refuses: something stands at dir, or there is not the memory. It sets o.Budget,
// unless it is set, to what this machine has left, so that what it said is kept whatever the
// machine has left later.
func PlanBuild(dir string, docs uint64, o *BuildOptions) (segment.Plan, error) {
	check := disk.CheckAbsent
	if o.Replace {
		check = func(dir string) error { return disk.CheckReplaceable(dir, isOwn(dir)) }
	}
	if err := cmp.Or(check(dir), disk.CheckParent(dir)); err != nil {
		return segment.Plan{}, err
	}
	o.TempDir = filepath.Dir(dir)
	o.Budget = o.Budget.OrMachine()
	return segment.NewPlan(docs, o.Options)
}

// Build makes the index folder dir, which must not exist unless o.Replace is set, from fingerprint
// files: documents are numbered through the files in order. The files' own checksums are verified
// first.
//
// The memory that it takes beside the mapped files is what o.Budget has left at most, by default
// what this machine has left; what needs more is sorted in temporary files in the new folder, and
// what cannot be done at all is refused with a [memory.TooLargeError] before it is begun. An
// interrupted Build leaves nothing behind.
func Build(ctx context.Context, dir string, files []*ndf.File, with BuildOptions) error {
	recipe, err := commonRecipe(files)
	if err != nil {
		return err
	}
	in, err := inputOf(files, with.Sketches, with.NoIDs || with.NoDocs)
	if err != nil {
		return err
	}
	if _, err := PlanBuild(dir, uint64(in.Len()), &with); err != nil {
		return err
	}
	o := with.Options
	if err := verifyPrints(ctx, files, o.Threads); err != nil {
		return err
	}
	if with.OnConflict != 0 {
		dropped, err := unique(ctx, &in, with.OnConflict, with.Budget.OrMachine(), o.Threads)
		if err != nil {
			return err
		}
		if with.Dropped != nil {
			with.Dropped(dropped)
		}
	}
	folder, err := createFolder(dir, &with)
	if err != nil {
		return err
	}
	defer folder.Abort()
	o.TempDir = folder.Dir()
	const generation = 1
	to := store.Options{Random: o.Random, Disk: o.Disk}
	made, err := writeSegment(ctx, filepath.Join(folder.Dir(), "00000001.segment"), generation, to, in.Input, o)
	if err != nil {
		return err
	}
	if in.sketches != nil {
		file, err := writeSketches(filepath.Join(folder.Dir(), "00000001.sketches"), generation, to, made.ID,
			made.Documents, in.sketches)
		if err != nil {
			return err
		}
		made.Sketches = &file
	}
	m := &Manifest{K: o.Design.K, Recipe: recipe, Choice: with.Choice, Segments: []ManifestSegment{made},
		NoSketches: with.NoSketches}
	if err := writeManifest(folder.Dir(), generation, to, m); err != nil {
		return err
	}
	return folder.Commit()
}

// verifyPrints holds fingerprint files that have checksums against these.
func verifyPrints(ctx context.Context, files []*ndf.File, threads int) error {
	for _, f := range files {
		if err := f.Verify(ctx, threads); err != nil {
			return err
		}
	}
	return nil
}

// createFolder begins the index's folder.
func createFolder(dir string, o *BuildOptions) (*disk.Folder, error) {
	if o.Replace {
		return o.Disk.ReplaceFolder(dir, isOwn(dir))
	}
	return o.Disk.CreateFolder(dir)
}

// isOwn returns a function that reports whether a file of an index's folder can be built again from
// fingerprint files: its manifest and segments, but not later inserts.
func isOwn(dir string) func(name string) bool {
	return func(name string) bool {
		kind, is, err := store.Sniff(filepath.Join(dir, name))
		return err == nil && is && (name == manifestName && kind == store.KindManifest ||
			segmentName.MatchString(name) && kind == store.KindSegment ||
			sketchesName.MatchString(name) && kind == store.KindSketches)
	}
}

// commonRecipe returns the recipe of all files, nil when they are raw, or an error if it is not
// one.
func commonRecipe(files []*ndf.File) (*simhash.Recipe, error) {
	if len(files) == 0 {
		return nil, nil
	}
	first := files[0]
	for _, f := range files[1:] {
		if err := simhash.Compatible(first.Path(), first.Recipe(), f.Path(), f.Recipe()); err != nil {
			return nil, err
		}
	}
	return first.Recipe(), nil
}

// An input is what a segment is built from, and its documents' sketches by row, some at a time: nil
// where they are not kept.
type input struct {
	segment.Input
	sketches iter.Seq[[]sketch.Sketch]
}

// inputOf returns the input of the documents of files. The error wraps [ErrMixed] where some files
// have IDs or sketches that are to be kept and others have none.
func inputOf(files []*ndf.File, sketches, noIDs bool) (in input, err error) {
	for _, f := range files {
		for c := range f.Chunks {
			in.Chunks = append(in.Chunks, c)
		}
		if sketches && !f.HasSketches() {
			return in, fmt.Errorf("%w: %s has no sketches, which the index keeps", ErrMixed, f.Path())
		}
	}
	var ids bool
	if !noIDs {
		if ids, err = ndf.HaveIDs(files); err != nil {
			return in, err
		}
	}
	if ids {
		in.IDs = func(yield func(string, error) bool) {
			for _, f := range files {
				for id, err := range f.IDs {
					if !yield(id, err) {
						return
					}
				}
			}
		}
	}
	if sketches {
		in.sketches = func(yield func([]sketch.Sketch) bool) {
			for _, f := range files {
				for part := range f.Sketches {
					if !yield(part) {
						return
					}
				}
			}
		}
	}
	return in, nil
}

// writeSegment writes the file of a segment, for a manifest to name.
func writeSegment(
	ctx context.Context, path string, generation uint64, files store.Options, in segment.Input, o segment.Options,
) (made ManifestSegment, err error) {
	w, err := store.CreateWith(path, store.KindSegment, generation, files)
	if err != nil {
		return made, err
	}
	defer w.Abort()
	if err := segment.Write(ctx, w, in, o); err != nil {
		return made, err
	}
	if err := w.Commit(); err != nil { // before which its length is not known
		return made, err
	}
	return ManifestSegment{ManifestFile: generations.EntryOf(w, path), Documents: uint64(in.Len())}, nil
}

// unique leaves each ID of an input with one document, by the conflict policy, and returns how many
// documents it drops. It sorts a hash of each ID, 16 bytes a document, in several passes where the
// budget has less. Only the IDs whose hashes repeat are compared, in one more pass. The error wraps
// [ErrConflict] where conflicts are refused.
func unique(ctx context.Context, in *input, conflict rows.OnConflict, b *memory.Budget,
	threads int) (dropped uint64, err error) {
	if in.IDs == nil {
		return 0, nil
	}
	repeated, err := repeatedHashes(ctx, in, b, threads)
	if err != nil || len(repeated) == 0 {
		return 0, err
	}
	const entryBytes = 128 // of the map, with an ID
	reserved, err := b.Reserve("documents with the same ID", entryBytes*uint64(len(repeated)))
	if err != nil {
		return 0, err
	}
	defer reserved.Release()
	n, row := uint64(in.Len()), uint64(0)
	kept, owner := segment.NewRowSet(n), map[string]uint64{}
	for id, err := range in.IDs {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return 0, err
		}
		if _, ok := slices.BinarySearch(repeated, xxhash.Sum64String(id)); ok && id != "" {
			switch other, taken := owner[id]; {
			case !taken:
				owner[id] = row
			case conflict == rows.Refuse:
				return 0, fmt.Errorf("%w: %.200q is document %d and document %d of the files", ErrConflict, id, other, row)
			case conflict == rows.Keep:
				kept.Drop(row)
			default:
				kept.Drop(other)
				owner[id] = row
			}
		}
		row++
	}
	restrict(in, kept)
	return n - kept.Len(), nil
}

// repeatedHashes returns the hashes that several IDs of an input have, ascending.
func repeatedHashes(ctx context.Context, in *input, b *memory.Budget,
	threads int) (repeated []uint64, err error) {
	const hashBytes, spare = 16, 1 << 12
	n, passes := uint64(in.Len()), uint64(1)
	for n/passes > 1<<16 && hashBytes*n/passes > b.Left()/2 {
		passes++
	}
	size := n/passes + n/passes/16 + spare
	reserved, err := b.Reserve("hashes of IDs", hashBytes*size)
	if err != nil {
		return nil, err
	}
	defer reserved.Release()
	buffer, err := memory.Make[uint64](2 * int(size))
	if err != nil {
		return nil, err
	}
	defer buffer.Free()
	list, sorted := buffer.Data[:0:size], buffer.Data[size:]
	collect := func() { // leaves one of each hash in list
		in := sorted[:len(list)]
		radix.Keys(in, list, ^uint64(0), max(threads, 1))
		for i := 1; i < len(in); i++ {
			if in[i] == in[i-1] && (len(repeated) == 0 || repeated[len(repeated)-1] != in[i]) {
				repeated = append(repeated, in[i])
			}
		}
		list = append(list[:0], slices.Compact(in)...)
	}
	for pass := range passes {
		for id, err := range in.IDs {
			if err != nil {
				return nil, err
			}
			h := xxhash.Sum64String(id)
			if id == "" || h%passes != pass {
				continue
			}
			if len(list) == cap(list) {
				if collect(); len(list) == cap(list) {
					return nil, &memory.TooLargeError{What: "hashes of IDs", Need: hashBytes * n, Limit: b.Limit()}
				}
			}
			list = append(list, h)
		}
		collect()
		list = list[:0]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(repeated)
	return slices.Compact(repeated), nil
}

// restrict leaves an input of chunks with some of its rows.
func restrict(in *input, kept *segment.RowSet) {
	var chunks [][]uint64
	first := uint64(0) // row of a chunk
	for _, c := range in.Chunks {
		kept.Runs(first, first+uint64(len(c)), func(row, n uint64) bool {
			chunks = append(chunks, c[row-first:][:n])
			return true
		})
		first += uint64(len(c))
	}
	ids, sketches := in.IDs, in.sketches
	in.Chunks = chunks
	in.IDs = func(yield func(string, error) bool) {
		row := uint64(0)
		for id, err := range ids {
			if (err != nil || kept.Has(row)) && !yield(id, err) {
				return
			}
			row++
		}
	}
	if sketches == nil {
		return
	}
	in.sketches = func(yield func([]sketch.Sketch) bool) {
		row, some := uint64(0), []sketch.Sketch(nil)
		for part := range sketches {
			some = some[:0]
			for i := range part {
				if kept.Has(row) {
					some = append(some, part[i])
				}
				row++
			}
			if len(some) > 0 && !yield(some) {
				return
			}
		}
	}
}
