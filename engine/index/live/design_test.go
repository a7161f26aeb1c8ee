package live

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/permute"
)

// TestDesignOf checks the design of a segment with at most an eighth of the documents, for every k and every design
// of the catalogue: it is valid for k and takes at most two and a quarter times the bytes. A larger segment has the
// design of the index, and so have all with the huffman layout. With k = 3 and two tables, small segments have four
// tables with one probe each.
func TestDesignOf(t *testing.T) {
	t.Parallel()
	for k := range permute.MaxK + 1 {
		for _, d := range permute.Catalogue(k, 3) {
			c := Config{Design: d, Table: planar}
			own := func(design permute.Design) bool { return slices.Equal(design.Tables, d.Tables) && design.K == d.K }
			for _, docs := range []uint64{0, 1 << 20} {
				small := c.designOf(docs, max(8*docs, 1))
				if err := small.Validate(); err != nil || small.K != k ||
					float64(len(small.Tables)) > smallBytes*float64(len(d.Tables))+1 {
					t.Errorf("k = %d, %s, %d documents: %s for k = %d, %v", k, d.Name, docs, small.Name, small.K, err)
				}
				if !own(c.designOf(docs, max(8*docs, 1)-1)) && docs > 0 {
					t.Errorf("k = %d, %s: more than an eighth of the documents has another design", k, d.Name)
				}
				c := c
				if c.Table.Layout = table.LayoutHuffman; !own(c.designOf(docs, 8*docs)) {
					t.Errorf("k = %d, %s, huffman: another design", k, d.Name)
				}
			}
		}
	}
	c := Config{Design: halves(t), Table: planar}
	for _, docs := range []uint64{1 << 20, 4 << 20} {
		if d := c.designOf(docs, 100e6); len(d.Tables) != 4 || d.Tables[0].Radius != 0 {
			t.Errorf("%d documents of 100 M: %s", docs, d.Name)
		}
	}
	if d := c.designOf(64<<20, 1e9); len(d.Tables) != 2 {
		t.Errorf("64 M documents of 1,000 M: %s", d.Name)
	}
}

// TestSmallSegments inserts an eighth as many documents as an index has, and flushes. They are in a segment with
// its own design, and all answers are those of a scan, even after a restart. A merge makes one segment with the
// design of the index, even of the small segment alone.
func TestSmallSegments(t *testing.T) {
	t.Parallel()
	const base, added = 160_000, 20_000
	dir := filepath.Join(t.TempDir(), "index")
	docs := someDocs(base+added, 14)
	for i := 3; i < len(docs); i += 4 {
		docs[i].Fingerprint = docs[i/2].Fingerprint ^ 1<<(i%64) ^ 1<<(i%13)
	}
	o := BuildOptions{Options: segment.Options{Design: halves(t), Table: planar}}
	must.Do(t, Build(t.Context(), dir, []*ndf.File{printsFile(t, docs[:base])}, o))
	var x *Index
	designs := func() (names []string) {
		for _, s := range x.versions.Current().Segments {
			names = append(names, s.Design().Name)
		}
		return names
	}
	reopen := func() {
		t.Helper()
		x = openFolder(t, dir, OpenOptions{Write: true, NoSync: true})
	}
	compare := func(stage string) {
		t.Helper()
		for i := 0; i < len(docs); i += 9_001 {
			for k := range 4 {
				q := docs[i].Fingerprint ^ 1<<(i%64)
				want := 0
				for _, d := range docs {
					if simhash.Distance(d.Fingerprint, q) <= k {
						want++
					}
				}
				if got := found(t, x, q, k); got != want {
					t.Fatalf("%s, k = %d: %d documents near %016x, want %d", stage, k, got, q, want)
				}
			}
		}
	}
	reopen()
	for list := range slices.Chunk(docs[base:], 1000) {
		insert(t, x, list...)
	}
	must.Do(t, x.Flush(t.Context()))
	if d := designs(); len(d) != 2 || d[0] != "halves" || d[1] == "halves" {
		t.Fatalf("segments of designs %v", d)
	}
	compare("flushed")
	must.Do(t, x.Close())
	alone := filepath.Join(t.TempDir(), "alone")
	must.Do(t, os.CopyFS(alone, os.DirFS(dir)))
	reopen()
	if d := designs(); len(d) != 2 || d[1] == "halves" || x.config.Design.Name != "halves" {
		t.Fatalf("opened again: segments of designs %v, index of %s", d, x.config.Design.Name)
	}
	compare("opened again")
	must.Do(t, x.Merge(t.Context(), 2))
	if d := designs(); !slices.Equal(d, []string{"halves"}) {
		t.Fatalf("merged: segments of designs %v", d)
	}
	compare("merged")
	must.Do(t, x.Close())
	// If the other documents are deleted, the small segment is merged by itself.
	dir = alone
	reopen()
	x.folder.mu.Lock()
	err := x.folder.publish(func(m *Manifest) { m.Segments = m.Segments[1:] })
	x.folder.mu.Unlock()
	must.Do(t, errors.Join(err, x.Close()))
	reopen()
	must.Do(t, x.Merge(t.Context(), 1))
	if d := designs(); !slices.Equal(d, []string{"halves"}) || x.Stats().Documents != added {
		t.Fatalf("merged by itself: segments of designs %v, %d documents", d, x.Stats().Documents)
	}
	must.Do(t, x.Close())
}
