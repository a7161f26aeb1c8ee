package document

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// names returns the paths of files and, with a mark, what is skipped.
func names(t *testing.T, o Options, inputs ...string) (list []string) {
	t.Helper()
	for f, err := range o.Files(t.Context(), inputs) {
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

// TestShare deals files out: each to one share, in the order of the inputs, by their sizes, however
// the inputs are ordered; the places are those among all files.
func TestShare(t *testing.T) {
	files := map[string]string{"d/a/.hidden": "x", "empty": ""}
	for i := range 40 {
		files[fmt.Sprintf("d/%c/f%d", 'a'+i%3, i)] = strings.Repeat("word ", i/4*(i/4)*320) // some are of one size
	}
	tree(t, files)
	inputs, again := []string{"empty", "d/a", "d/b", "d/c"}, []string{"d/c", "d/b", "d/a", "empty"}
	all := names(t, Options{}, inputs...)
	for _, of := range []int{1, 2, 7, 60} {
		var got []string
		var least, most int64 = 1 << 40, 0
		for i := range of {
			share, err := NewShare(t.Context(), inputs, i, of)
			must.Do(t, err)
			mine := names(t, Options{Share: share}, inputs...)
			if !slices.IsSortedFunc(mine, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) }) {
				t.Errorf("share %d/%d is out of order: %q", i, of, mine)
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
				t.Errorf("share %d/%d says %d files and has %d", i, of, share.Files, files)
			}
			least, most = min(least, bytes), max(most, bytes)
			got = append(got, mine...)
			other, err := NewShare(t.Context(), again, i, of)
			must.Do(t, err)
			theirs := names(t, Options{Share: other}, again...)
			slices.Sort(mine)
			slices.Sort(theirs)
			if !slices.Equal(mine, theirs) {
				t.Errorf("share %d/%d depends on the order of the inputs: %q, %q", i, of, mine, theirs)
			}
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(all))
		if !slices.Equal(got, want) {
			t.Errorf("%d shares have %q, want %q", of, got, want)
		}
		if of == 7 && most-least > 40<<10 {
			t.Errorf("shares have %d to %d bytes", least, most)
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

// TestLinks follows links in a folder to files, each once, and names those that lead elsewhere.
func TestLinks(t *testing.T) {
	tree(t, map[string]string{"hub/blobs/1": "one", "hub/blobs/2": "two", "hub/.cache/3": "three", "hub/other/a.txt": "a"})
	for name, to := range map[string]string{"linked": "hub/blobs", "hub/s/a.txt": "../blobs/1",
		"hub/s/b.txt": "../blobs/2", "hub/s/b2.txt": "b.txt", "hub/s/c.txt": "../.cache/3",
		"hub/s/loop": "loop", "hub/s/none": "../none", "hub/s/up": ".."} {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.Symlink(to, name))
	}
	for _, c := range []struct{ inputs, want, outside string }{
		// Out of the folder named: one link to each file.
		{"hub/s", "hub/s/a.txt: one hub/s/b.txt: two hub/s/b2.txt again hub/s/c.txt: three hub/s/loop special " +
			"hub/s/none special hub/s/up special", "hub/s/a.txt hub/s/b.txt hub/s/c.txt"},
		// Within it: what is read itself is not read by a link, and what is hidden is.
		{"hub", "hub/.cache hidden hub/blobs/1: one hub/blobs/2: two hub/other/a.txt: a hub/s/a.txt again hub/s/b.txt again " +
			"hub/s/b2.txt again hub/s/c.txt: three hub/s/loop special hub/s/none special hub/s/up special", ""},
		// A folder that is named by a link.
		{"linked", "linked/1: one linked/2: two", ""},
		{"linked/", "linked/1: one linked/2: two", ""},
		// To another input.
		{"hub/s hub/b*/1", "hub/s/a.txt again hub/s/b.txt: two hub/s/b2.txt again hub/s/c.txt: three hub/s/loop special " +
			"hub/s/none special hub/s/up special hub/blobs/1: one", "hub/s/b.txt hub/s/c.txt"},
	} {
		var got []string
		meter := &Meter{}
		opts := Options{Format: Text, Meter: meter}
		for doc, err := range Read(t.Context(), strings.Fields(c.inputs), opts, nil) {
			if skip, ok := err.(*Skip); ok {
				got = append(got, skip.Source+" "+string(skip.Reason))
			} else if err != nil {
				t.Fatal(err)
			} else {
				got = append(got, doc.ID+": "+doc.Text)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.inputs, strings.Join(got, " "), c.want)
		}
		var outside []string
		for _, f := range meter.Outside() {
			outside = append(outside, f.Path)
		}
		if strings.Join(outside, " ") != c.outside {
			t.Errorf("%s: %q lead out of the folder, want %s", c.inputs, outside, c.outside)
		}
		if open := meter.Open(); len(open) > 0 {
			t.Errorf("%q are still read", open)
		}
	}
}
