package input

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// names returns the paths of files and, with a mark, of skipped files.
func names(t *testing.T, s *Share, inputs ...string) (list []string) {
	t.Helper()
	for f, err := range s.List(t.Context(), inputs) {
		if skip, ok := err.(*Skip); ok {
			list = append(list, "!"+skip.Source)
		} else if err != nil {
			t.Fatal(err)
		} else {
			list = append(list, f.Path)
		}
	}
	return list
}

// TestShare assigns each file to one share by its size, in the order of the inputs. The result does not depend on the
// order in which the inputs are given. Positions are positions among all files.
func TestShare(t *testing.T) {
	files := map[string]string{"d/a/.hidden": "x", "empty": ""}
	for i := range 40 {
		files[fmt.Sprintf("d/%c/f%d", 'a'+i%3, i)] = strings.Repeat("word ", i/4*(i/4)*320) // some have the same size
	}
	tree(t, files)
	inputs, again := []string{"empty", "d/a", "d/b", "d/c"}, []string{"d/c", "d/b", "d/a", "empty"}
	all := names(t, nil, inputs...)
	for _, count := range []int{1, 2, 7, 60} {
		var got []string
		var minimum, maximum int64 = 1 << 40, 0
		for i := range count {
			share, err := NewShare(t.Context(), inputs, i, count)
			must.Do(t, err)
			mine := names(t, share, inputs...)
			if !slices.IsSortedFunc(mine, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) }) {
				t.Errorf("share %d/%d is out of order: %q", i, count, mine)
			}
			files, bytes := 0, int64(0)
			for _, name := range mine {
				path := strings.TrimPrefix(name, "!")
				if share.Place(path) != slices.Index(all, name) {
					t.Errorf("%s has place %d, want %d", path, share.Place(path), slices.Index(all, name))
				}
				if info, err := os.Stat(path); err == nil && path == name {
					files, bytes = files+1, bytes+info.Size()
				}
			}
			if share.Files != files {
				t.Errorf("share %d/%d says %d files and has %d", i, count, share.Files, files)
			}
			minimum, maximum = min(minimum, bytes), max(maximum, bytes)
			got = append(got, mine...)
			other, err := NewShare(t.Context(), again, i, count)
			must.Do(t, err)
			theirs := names(t, other, again...)
			slices.Sort(mine)
			slices.Sort(theirs)
			if !slices.Equal(mine, theirs) {
				t.Errorf("share %d/%d depends on the order of the inputs: %q, %q", i, count, mine, theirs)
			}
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(all))
		if !slices.Equal(got, want) {
			t.Errorf("%d shares have %q, want %q", count, got, want)
		}
		if count == 7 && maximum-minimum > 40<<10 {
			t.Errorf("shares have %d to %d bytes", minimum, maximum)
		}
	}
	before, err := NewShare(t.Context(), inputs, 0, 2)
	must.Do(t, err)
	files["d/a/new"] = ""
	tree(t, files)
	if after, err := NewShare(t.Context(), inputs, 0, 2); err != nil || after.Digest == before.Digest {
		t.Errorf("other files have the same digest, %x; %v", after.Digest, err)
	}
}
