package live

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// ErrMixed is what an error wraps when fingerprints of different recipes, or
// named and unnamed documents, are put together.
var ErrMixed = simhash.ErrMixed

// BuildOptions say how an index is built.
type BuildOptions struct {
	segment.Options
	Choice  *Choice // why the index has its tables, for it to remember; may be nil
	Replace bool    // an index that stands there, when the new one is complete
	Lengths bool    // keep the lengths of the documents' texts, which all files must have
	NoIDs   bool    // keep the documents' numbers, and not the IDs that files have
}

// PlanBuild returns how [Build] will build an index of so many documents, with the memory that
// it will take, or refuses: something stands at dir, or there is not the memory. It sets o.Budget,
// unless it is set, to what this machine has left, so that what it said is kept whatever the
// machine has left later.
func PlanBuild(dir string, docs uint64, o *BuildOptions) (segment.Plan, error) {
	check := disk.Absent
	if o.Replace {
		check = func(dir string) error { return disk.Replaceable(dir, isOwn) }
	}
	if err := check(dir); err != nil {
		return segment.Plan{}, err
	}
	o.TempDir = filepath.Dir(dir)
	o.Budget = o.Budget.Here()
	return segment.NewPlan(docs, o.Options)
}

// Build makes the index folder dir, which must not exist unless o.Replace is set, from fingerprint files: documents are
// numbered through the files in order. The files' own checksums are verified first.
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
	if recipe.PrintsEach() > 1 && with.NoDocs {
		return fmt.Errorf("%s: %w", files[0].Path(), ErrTwoPrints)
	}
	in, err := input(files, with.Lengths, with.NoIDs || with.NoDocs)
	if err != nil {
		return err
	}
	if _, err := PlanBuild(dir, uint64(in.Len()), &with); err != nil {
		return err
	}
	o := with.Options
	for _, f := range files {
		if s := f.Store(); s != nil {
			if err := s.Verify(ctx, o.Threads, nil); err != nil {
				return err
			}
		}
	}
	folder, err := createFolder(dir, &with)
	if err != nil {
		return err
	}
	defer folder.Abort()
	o.TempDir = folder.Dir()
	if err := write(ctx, folder.Dir(), &Manifest{K: o.Design.K, Recipe: recipe, Choice: with.Choice}, in, o); err != nil {
		return err
	}
	return folder.Commit()
}

// createFolder begins the index's folder.
func createFolder(dir string, o *BuildOptions) (*disk.Folder, error) {
	if o.Replace {
		return o.Disk.ReplaceFolder(dir, isOwn)
	}
	return o.Disk.CreateFolder(dir)
}

// isOwn says whether a file of an index's folder can be built again from fingerprint files: its
// manifest and segments, but not what was inserted since.
func isOwn(name string) bool { return name == manifestName || segmentName.MatchString(name) }

// ErrNoRecipe is wrapped where documents have two fingerprints and no recipe: an index knows by the recipe that they belong together.
var ErrNoRecipe = errors.New("two fingerprints for each document, and nothing says by which recipe they were made")

// commonRecipe returns the recipe of all files, nil when they are raw, or an error if it is not one.
func commonRecipe(files []*ndf.File) (*simhash.Recipe, error) {
	if len(files) == 0 {
		return nil, nil
	}
	first := files[0]
	for _, f := range files[1:] {
		if err := simhash.Compatible(first.Path(), first.Recipe(), f.Path(), f.Recipe()); err != nil {
			return nil, err
		}
		if a, b := first.PrintsEach(), f.PrintsEach(); a != b {
			return nil, fmt.Errorf("%w: %s has %d for each document, %s %d", simhash.ErrMixed, first.Path(), a, f.Path(), b)
		}
	}
	if first.Recipe() == nil && first.PrintsEach() > 1 {
		return nil, fmt.Errorf("%s: %w", first.Path(), ErrNoRecipe)
	}
	return first.Recipe(), nil
}

// input returns what a segment of the documents of some files is built from. Where each document has two fingerprints it has
// two rows one after the other, of which the first has the ID. The error wraps [ErrNoLengths] where lengths are to be kept and a
// file has none, and [ErrMixed] where some files have IDs that are to be kept and others have none.
func input(files []*ndf.File, lengths, noIDs bool) (in segment.Input, err error) {
	for _, f := range files {
		for c := range f.Chunks {
			in.Chunks = append(in.Chunks, c)
		}
		if lengths && !f.HasLengths() {
			return in, fmt.Errorf("%s: %w", f.Path(), ErrNoLengths)
		}
	}
	var ids bool
	if !noIDs {
		if ids, err = ndf.HaveIDs(files); err != nil {
			return in, err
		}
	}
	if ids {
		in.IDs = func(yield func(string, error) bool) { yieldIDs(files, yield) }
	}
	if lengths {
		in.Lengths = func(yield func([]uint32) bool) { yieldLengths(files, yield) }
	}
	return in, nil
}

// yieldIDs yields the IDs of rows.
func yieldIDs(files []*ndf.File, yield func(string, error) bool) {
	for _, f := range files {
		for id, err := range f.IDs {
			if !yield(id, err) || f.PrintsEach() > 1 && !yield("", nil) {
				return
			}
		}
	}
}

// yieldLengths yields the lengths of the texts of rows.
func yieldLengths(files []*ndf.File, yield func([]uint32) bool) {
	for _, f := range files {
		for part := range f.TextBytes {
			if f.PrintsEach() > 1 {
				twice := make([]uint32, 0, 2*len(part))
				for _, n := range part {
					twice = append(twice, n, n)
				}
				part = twice
			}
			if !yield(part) {
				return
			}
		}
	}
}

// write fills an index folder and completes its manifest.
func write(ctx context.Context, dir string, m *Manifest, in segment.Input, o segment.Options) error {
	const generation = 1
	name := "00000001.segment"
	files := store.Options{Random: o.Random, Disk: o.Disk}
	w, err := store.CreateWith(filepath.Join(dir, name), store.KindSegment, generation, files)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := segment.Write(ctx, w, in, o); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	id := w.Identity()
	m.Segments = []ManifestSegment{{
		ManifestFile: ManifestFile{File: name, ID: hex.EncodeToString(id.ID[:]), Bytes: uint64(info.Size())}, Documents: uint64(in.Len()),
	}}
	return writeManifest(dir, generation, files, m)
}
