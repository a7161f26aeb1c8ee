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
	Number, Of int    // from 0; how many there are
	Files      int    // number of files of the share
	Digest     uint64 // digest of the names and sizes of all files; all shares of the same inputs have the same one

	place map[string]int // the places of the share's files and skips among all of them, in the order of the inputs
}

// fileCost is the cost of opening a file, in bytes, when files are divided.
const fileCost = 16 << 10

// NewShare divides the files of some inputs and returns one of the shares. It looks up the sizes of
// all files; objects count as empty files. Pipes cannot be divided.
func NewShare(ctx context.Context, inputs []string, number, of int) (*Share, error) {
	type item struct {
		path  string
		cost  int64
		place int
		file  bool
	}
	var items []item
	digest := xxhash.New()
	for f, err := range Files(ctx, inputs) {
		if skip, skipped := errors.AsType[*Skip](err); skipped {
			items = append(items, item{path: skip.Source, place: len(items)})
			continue
		}
		if err == nil && ReadOnce(f.Path) {
			err = fmt.Errorf("%s: a pipe cannot be dealt out: put it in a file", f.Path)
		}
		if err != nil {
			return nil, err
		}
		size, _ := f.Size()
		fmt.Fprintf(digest, "%s\x00%d\n", f.Path, size)
		items = append(items, item{f.Path, size + fileCost, len(items), true})
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.path, b.path))
	})
	s := &Share{Number: number, Of: of, Digest: digest.Sum64(), place: map[string]int{}}
	costs := make([]int64, of)
	for _, it := range items {
		least := slices.Index(costs, slices.Min(costs))
		costs[least] += it.cost
		if least != number {
			continue
		}
		s.place[it.path] = it.place
		if it.file {
			s.Files++
		}
	}
	return s, ctx.Err()
}

// Place returns the place of a file of the share among all files of the inputs.
func (s *Share) Place(path string) int { return s.place[path] }

// List yields the files of the share as [Files] does, or all files if there is no share.
func (s *Share) List(ctx context.Context, inputs []string) iter.Seq2[File, error] {
	if s == nil {
		return Files(ctx, inputs)
	}
	return func(yield func(File, error) bool) {
		for f, err := range Files(ctx, inputs) {
			path := f.Path
			skip, skipped := errors.AsType[*Skip](err)
			if skipped {
				path = skip.Source
			}
			if _, has := s.place[path]; (has || err != nil && !skipped) && !yield(f, err) {
				return
			}
		}
	}
}
