package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A Share is one of several parts of the files of some inputs, so that each part can be
// read by another process. The division depends only on the names and sizes of the files: each file, the
// largest first, is added to the share with the fewest bytes so far.
type Share struct {
	Number, Count int    // number from 0; number of shares
	Files         int    // number of files of the share
	Digest        uint64 // digest of the names and sizes of all files; all shares of the same inputs have the same one

	files  map[string]SharedFile // files and skips of the share
	listed []SharedFile          // if not nil, all files of the share, which are not looked up
}

// Listed returns a share of some files with known sizes. The files need not exist.
func Listed(files []SharedFile) *Share { return &Share{Count: 1, Files: len(files), listed: files} }

// A SharedFile is a file of a share.
type SharedFile struct {
	Path  string
	Place int   // place among all files and skips of the inputs, in their order
	Bytes int64 // size; -1 if it is unknown
	skip  bool
}

// fileCost is the cost of opening a file, in bytes, when files are divided.
const fileCost = 16 << 10

// NewShare divides the files of some inputs and returns one of the shares. It looks up the sizes of
// all files; objects of the web count as empty files. Pipes cannot be divided.
func NewShare(ctx context.Context, inputs []string, number, shares int) (*Share, error) {
	// List the files, and compute a digest that is the same in all shares.
	var items []SharedFile
	digest := xxhash.New()
	for f, err := range Files(ctx, inputs) {
		if skip, skipped := errors.AsType[*Skip](err); skipped {
			items = append(items, SharedFile{Path: skip.Source, Place: len(items), skip: true})
			continue
		}
		if err == nil && ReadOnce(f.Path) {
			err = fmt.Errorf("%s: a pipe cannot be divided: save it as a file", f.Path)
		}
		if err != nil {
			return nil, err
		}
		size := f.Size()
		fmt.Fprintf(digest, "%s\x00%d\n", f.Path, size)
		items = append(items, SharedFile{Path: f.Path, Place: len(items), Bytes: size})
	}
	// Give each file, most expensive first, to the share that has the least cost so far.
	slices.SortFunc(items, func(a, b SharedFile) int {
		return cmp.Or(cmp.Compare(b.cost(), a.cost()), cmp.Compare(a.Path, b.Path))
	})
	s := &Share{Number: number, Count: shares, Digest: digest.Sum64(), files: map[string]SharedFile{}}
	costs := make([]int64, shares)
	for _, item := range items {
		cheapest := slices.Index(costs, slices.Min(costs))
		costs[cheapest] += item.cost()
		if cheapest != number {
			continue
		}
		s.files[item.Path] = item
		if !item.skip {
			s.Files++
		}
	}
	return s, ctx.Err()
}

// cost returns the cost of reading a file, 0 for a skip.
func (f *SharedFile) cost() int64 {
	if f.skip {
		return 0
	}
	return max(f.Bytes, 0) + fileCost
}

// Place returns the place of a file of the share among all files of the inputs.
func (s *Share) Place(path string) int { return s.files[path].Place }

// InOrder returns the files of the share in the order of the inputs, without skips.
func (s *Share) InOrder() (list []SharedFile) {
	for _, f := range s.files {
		if !f.skip {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b SharedFile) int { return cmp.Compare(a.Place, b.Place) })
	return list
}

// List yields the files of the share as [Files] does, or all files if there is no share.
func (s *Share) List(ctx context.Context, inputs []string) iter.Seq2[File, error] {
	if s == nil {
		return Files(ctx, inputs)
	}
	return func(yield func(File, error) bool) {
		for _, f := range s.listed {
			if !yield(File{Path: f.Path, listed: true, bytes: f.Bytes}, nil) {
				return
			}
		}
		if s.listed != nil {
			return
		}
		for f, err := range Files(ctx, inputs) {
			path := f.Path
			skip, skipped := errors.AsType[*Skip](err)
			if skipped {
				path = skip.Source
			}
			if _, has := s.files[path]; (has || err != nil && !skipped) && !yield(f, err) {
				return
			}
		}
	}
}
