package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// ErrMixed is wrapped if fingerprints of different recipes, or documents with and without IDs or sketches, are
// combined.
var ErrMixed = simhash.ErrMixed

// BuildOptions configures [Build].
type BuildOptions struct {
	segment.Options
	Replace    bool        // replace an existing index when the new one is complete
	Sketches   bool        // keep the sketches of documents; all files must have them
	NoSketches bool        // keep no sketches of later documents either
	NoIDs      bool        // keep the numbers of documents, without their IDs
	Stream     radix.Input // fingerprints that replace the files, such as generated ones; may be nil

	OnConflict rows.OnConflict   // what [Build] does with documents with the same ID; 0 keeps all
	OnDrop     func(docs uint64) // receives the number of documents that OnConflict drops; may be nil
}

// PlanBuild returns how [Build] builds an index of docs documents, and the memory for it. It fails if dir exists or
// memory is short. It sets o.Budget, if nil, to the free memory of the machine, so that the plan remains valid.
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

// Build builds the index in folder dir, which must not exist unless o.Replace is set, from fingerprint files. Documents
// are numbered through the files in order. Build first verifies the checksums of the files.
//
// Build uses at most the free memory of o.Budget in addition to the mapped files, by default the free memory of the
// machine. With less memory it sorts in temporary files in the new folder. If even that is impossible, it fails at once
// with a [memory.TooLargeError]. An interrupted Build leaves nothing.
func Build(ctx context.Context, dir string, files []*ndf.File, options BuildOptions) error {
	// Check everything that can fail before the work begins.
	recipe, err := commonRecipe(files)
	if err != nil {
		return err
	}
	input, err := inputOf(files, options.Sketches, options.NoIDs || options.NoDocs)
	if err != nil {
		return err
	}
	input.Stream = options.Stream
	if _, err := PlanBuild(dir, uint64(input.Len()), &options); err != nil {
		return err
	}
	o := options.Options
	if err := verifyFingerprints(ctx, files, o.Threads); err != nil {
		return err
	}
	// Remove documents with repeated IDs.
	if options.OnConflict != 0 {
		dropped, err := unique(ctx, &input, options.OnConflict, options.Budget.OrMachine())
		if err != nil {
			return err
		}
		if options.OnDrop != nil {
			options.OnDrop(dropped)
		}
	}
	// Write the segment and its sketches to a new folder.
	create := o.Disk.CreateFolder
	if options.Replace {
		create = func(dir string) (*disk.Folder, error) { return o.Disk.ReplaceFolder(dir, isOwn(dir)) }
	}
	folder, err := create(dir)
	if err != nil {
		return err
	}
	defer folder.Abort()
	o.TempDir = folder.Dir()
	const generation = 1
	storeOptions := store.Options{Random: o.Random, Disk: o.Disk}
	s, err := writeSegment(ctx, filepath.Join(folder.Dir(), "00000001"), generation, storeOptions, input, o)
	if err != nil {
		return err
	}
	// Write the manifest, which makes them an index.
	m := &Manifest{K: o.Design.K, Recipe: recipe, Segments: []ManifestSegment{s},
		NoSketches: options.NoSketches}
	if err := writeManifest(folder.Dir(), generation, storeOptions, m); err != nil {
		return err
	}
	return folder.Commit()
}

// verifyFingerprints verifies the checksums of fingerprint files that have some.
func verifyFingerprints(ctx context.Context, files []*ndf.File, threads int) error {
	for _, f := range files {
		if err := f.Verify(ctx, threads); err != nil {
			return err
		}
	}
	return nil
}

// isOwn returns a function that reports whether a file can be built again from fingerprint files: manifests and
// segments can, later inserts cannot.
func isOwn(dir string) func(name string) bool {
	return func(name string) bool {
		kind, known, err := store.Sniff(filepath.Join(dir, name))
		return err == nil && known && (name == manifestName && kind == store.KindManifest ||
			segmentName.MatchString(name) && kind == store.KindSegment ||
			sketchesName.MatchString(name) && kind == store.KindSketches)
	}
}

// commonRecipe returns the recipe of all files, nil if they are raw. It fails if the files have different recipes.
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

// An input holds the documents of a segment, and their sketches by row, some at a time. sketches is nil if they are not
// kept.
type input struct {
	segment.Input
	sketches iter.Seq[[]sketch.Sketch]
}

// inputOf returns the documents of files as an input. The error wraps [ErrMixed] if only some files have the IDs or
// sketches to keep.
func inputOf(files []*ndf.File, sketches, noIDs bool) (in input, err error) {
	// Collect the fingerprints.
	for _, f := range files {
		for c := range f.Chunks {
			in.Chunks = append(in.Chunks, c)
		}
		if sketches && !f.HasSketches() {
			return in, fmt.Errorf("%w: %s has no sketches, which the index keeps", ErrMixed, f.Path())
		}
	}
	// Chain the IDs of all files.
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
	// Chain the sketches.
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

// writeSegment writes the files of a segment and of its sketches, named base with an ending, and returns their entry
// for the manifest.
func writeSegment(
	ctx context.Context, base string, generation uint64, files store.Options, in input, o segment.Options,
) (entry ManifestSegment, err error) {
	entry.Documents = uint64(in.Len())
	entry.ManifestFile, err = writeFile(base+".segment", store.KindSegment, generation, files, func(w *store.Writer) error {
		return segment.Write(ctx, w, in.Input, o)
	})
	if err != nil || in.sketches == nil {
		return entry, err
	}
	file, err := writeSketches(base+".sketches", generation, files, entry.ID, entry.Documents, in.sketches)
	entry.Sketches = &file
	return entry, err
}

// unique applies the conflict policy to the IDs of an input and returns the number of documents that it drops. It first
// finds the hashes of repeated IDs, with 11 bytes per document or, if memory is short, in several passes. One more pass
// compares the IDs with such a hash. If conflicts are refused, the error wraps [ErrConflict].
func unique(ctx context.Context, in *input, conflict rows.OnConflict, b *memory.Budget) (dropped uint64, err error) {
	if in.IDs == nil {
		return 0, nil
	}
	// Find the hashes of IDs that may be repeated.
	n, passes := uint64(in.Len()), uint64(1)
	for rows.RepeatedIDsBytes(n, passes) > b.Free()/2 && n/passes > 1<<16 {
		passes++
	}
	reservation, err := b.Reserve("hashes of IDs", rows.RepeatedIDsBytes(n, passes))
	if err != nil {
		return 0, err
	}
	defer reservation.Release()
	ids := func(yield func(string, error) bool) {
		for id, err := range in.IDs {
			if !yield(id, cmp.Or(err, ctx.Err())) {
				return
			}
		}
	}
	var key rows.IDKey
	rand.Read(key[:]) // never fails
	repeated, err := rows.RepeatedIDs(&key, n, passes, ids)
	if err != nil || len(repeated) == 0 {
		return 0, err
	}
	const entryBytes = 128 // size of a map entry with its ID
	if err := reservation.Resize("documents with the same ID", entryBytes*uint64(len(repeated))); err != nil {
		return 0, err
	}
	// Compare the IDs with such a hash, and select the rows to keep.
	row, kept, owner := uint64(0), segment.NewRowSet(n), map[string]uint64{}
	for id, err := range ids {
		if err != nil {
			return 0, err
		}
		if id != "" && repeated[key.Hash(id)] {
			switch other, previous := owner[id]; {
			case !previous:
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

// restrict removes rows from an input of chunks.
func restrict(in *input, kept *segment.RowSet) {
	in.Chunks = slices.Collect(keepRows(slices.Values(in.Chunks), kept))
	if in.sketches != nil {
		in.sketches = keepRows(in.sketches, kept)
	}
	ids := in.IDs
	in.IDs = func(yield func(string, error) bool) {
		row := uint64(0)
		for id, err := range ids {
			if (err != nil || kept.Has(row)) && !yield(id, err) {
				return
			}
			row++
		}
	}
}

// keepRows yields the values of some rows. parts has the values of all rows, some at a time.
func keepRows[T any](parts iter.Seq[[]T], kept *segment.RowSet) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		first, more := uint64(0), true // first row of a part
		for part := range parts {
			kept.Runs(first, first+uint64(len(part)), func(row, n uint64) bool {
				more = yield(part[row-first:][:n])
				return more
			})
			if first += uint64(len(part)); !more {
				return
			}
		}
	}
}
