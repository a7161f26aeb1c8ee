package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// Golden files of every released version of the format are in testdata/golden:
// the promise is that they open, verify and answer. `go test ./engine -run
// Golden -update` writes those of the current version anew, which is right only
// before it is released.
//
//	testdata/golden/v1/
//	  pages.ndf             400 documents, some of them equal
//	  planar/ huffman/      indexes of it: manifest, 00000001.segment
//	  answers.tsv           query, fingerprint, distance, name
var update = flag.Bool("update", false, "write the golden files of the current format version anew")

var golden = filepath.Join("..", "testdata", "golden", fmt.Sprintf("v%d", store.Version))

var goldenLayouts = []table.Layout{table.LayoutPlanar, table.LayoutHuffman}

// identities is a source of identities that are the same each time.
type identities struct{ n byte }

func (s *identities) Read(p []byte) (int, error) {
	s.n++
	id := identity(0, s.n)
	return copy(p, id.ID[:]), nil
}

// identity is the n-th that identities gives.
func identity(generation uint64, n byte) store.Identity {
	sum := sha256.Sum256([]byte{'n', 'd', 'd', n})
	return store.Identity{ID: [16]byte(sum[:16]), Generation: generation}
}

// TestGolden opens the files of every version.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	versions, err := filepath.Glob(filepath.Join("..", "testdata", "golden", "v*"))
	if err != nil || len(versions) != store.Version {
		t.Fatalf("%v, %v: want one folder for each of %d versions", versions, err, store.Version)
	}
	for _, dir := range versions {
		want, err := os.ReadFile(filepath.Join(dir, "answers.tsv"))
		must.Do(t, err)
		pages := openFile(t, filepath.Join(dir, "pages.ndf"))
		must.Do(t, pages.Verify(t.Context(), 1))
		if got := oracleAnswers(t, pages); got != string(want) {
			t.Errorf("%s: the oracle answers otherwise", dir)
		}
		for _, layout := range goldenLayouts {
			for _, verify := range []live.Verify{live.VerifyFull, live.VerifyFast} {
				verified, all := uint64(0), uint64(0)
				x := openAt(t, filepath.Join(dir, string(layout)), live.OpenOptions{Verify: verify, Threads: 1,
					Progress: func(done, total uint64) { verified, all = done, total }})
				if (verify == live.VerifyFull) != (all > 0) || verified > all || verified < all/2 {
					t.Errorf("%s, %s, verify=%v: %d of %d bytes are said to be verified", dir, layout, verify, verified, all)
				}
				must.Do(t, x.Check(t.Context()))
				if got := indexAnswers(t, x, pages.Fingerprints()); got != string(want) {
					t.Errorf("%s, %s, verify=%v: other answers", dir, layout, verify)
				}
			}
		}
	}
}

// TestGoldenSketches writes to an index without sketches, from an earlier version. New documents are verified by their
// sketches. The old documents prevent an insert by their fingerprints alone.
func TestGoldenSketches(t *testing.T) {
	like := func(n uint64) (s sketch.Sketch) {
		rng := rand.New(rand.NewPCG(n, 5))
		for i := range s {
			s[i] = rng.Uint64()
		}
		s[len(s)-1] |= 1 << 63 // the mark of a min-hash sketch
		return s
	}
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden, "planar"))))
	open := func() *Index {
		x, err := Open(t.Context(), dir, OpenOptions{Write: true})
		must.Do(t, err)
		return x
	}
	add := func(x *Index, id string, f simhash.Fingerprint, s sketch.Sketch, inserted bool, similarities ...float32) {
		t.Helper()
		out, err := x.CheckAndInsert(t.Context(), QueryOptions{K: 3, Docs: 9}, Doc{ID: id, Fingerprint: f, Sketch: s})
		must.Do(t, err)
		var got []float32
		for _, h := range out[0].Near {
			got = append(got, h.Similarities...)
		}
		if out[0].Inserted != inserted || !slices.Equal(got, similarities) {
			t.Errorf("%s: %+v; want inserted: %t, near %g", id, out[0], inserted, similarities)
		}
	}
	old := simhash.Fingerprint(openFile(t, filepath.Join(golden, "pages.ndf")).Fingerprints()[1])
	x := open()
	add(x, "unverified", old, like(1), false)
	add(x, "new", ^old, like(1), true)
	add(x, "same", ^old, like(1), false, 1)
	add(x, "unlike", ^old, like(2), true)
	must.Do(t, x.Close())
	x = open()
	add(x, "unlike both", ^old, like(3), true)
	add(x, "same again", ^old, like(2), false, 1)
	must.Do(t, x.Close())
	m, err := live.ReadManifest(dir)
	must.Do(t, err)
	if len(m.Segments) < 2 || m.Segments[0].Sketches != nil || m.Segments[1].Sketches == nil {
		t.Errorf("%+v: want the old segment without sketches, and a new one with them", m.Segments)
	}
}

// TestGoldenBytes builds the golden indexes again and compares the bytes. The names are left out, because another
// version of zstd may compress them differently.
func TestGoldenBytes(t *testing.T) {
	pages := openFile(t, filepath.Join(golden, "pages.ndf"))
	for _, layout := range goldenLayouts {
		dir := filepath.Join(t.TempDir(), "index")
		buildGolden(t, dir, pages, layout)
		want, err := store.Open(filepath.Join(golden, string(layout), "00000001.segment"), store.KindSegment)
		must.Do(t, err)
		defer want.Close()
		got, err := store.Open(filepath.Join(dir, "00000001.segment"), store.KindSegment)
		must.Do(t, err)
		defer got.Close()
		if got.Identity() != want.Identity() {
			t.Errorf("%s: another identity", layout)
		}
		a, b := got.Sections(), want.Sections()
		if !slices.EqualFunc(a, b, func(a, b store.Section) bool { return a.Name == b.Name }) {
			t.Fatalf("%s: other sections", layout)
		}
		for i := range a {
			if !strings.HasPrefix(a[i].Name, "names") && !bytes.Equal(a[i].Data, b[i].Data) {
				t.Errorf("%s: section %s differs: the format has changed, and needs another version number", layout, a[i].Name)
			}
		}
	}
}

// TestOtherVersion checks that a file of an unknown version is refused, and that the error names the version.
func TestOtherVersion(t *testing.T) {
	data := read(t, "planar", "00000001.segment")
	data[8]++
	_, err := store.OpenBytes("f", data, store.KindSegment)
	want := fmt.Sprintf("format version %d, this ndd reads version %d", store.Version+1, store.Version)
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func goldenQueries(fingerprints []uint64) (queries []uint64) {
	for i := 0; i < len(fingerprints); i += 7 {
		queries = append(queries, fingerprints[i]^1<<(i%64)^1<<(i*i%61))
	}
	return queries
}

func oracleAnswers(t *testing.T, pages *ndf.File) string {
	var names []string
	for name, err := range pages.IDs {
		must.Do(t, err)
		names = append(names, name)
	}
	queries := goldenQueries(pages.Fingerprints())
	var out strings.Builder
	for _, h := range oracle.Search(pages.Fingerprints(), queries, 3) {
		fmt.Fprintf(&out, "%016x\t%016x\t%d\t%s\n", queries[h.Query], h.Fingerprint, h.Distance, names[h.Row])
	}
	return out.String()
}

func indexAnswers(t *testing.T, x *Index, fingerprints []uint64) string {
	names := x.IDs()
	var out strings.Builder
	for _, q := range goldenQueries(fingerprints) {
		hits, err := x.Query(t.Context(), simhash.Fingerprint(q), QueryOptions{K: 3, Docs: AllDocs})
		must.Do(t, err)
		for _, h := range hits {
			for _, d := range h.Docs {
				name, err := names.ID(d)
				must.Do(t, err)
				fmt.Fprintf(&out, "%016x\t%s\t%d\t%s\n", q, h.Fingerprint, h.Distance, name)
			}
		}
	}
	return out.String()
}

func buildGolden(t *testing.T, dir string, pages *ndf.File, layout table.Layout) {
	t.Helper()
	o := segment.Options{Design: halves(t), Table: table.Options{Layout: layout, BlockBytes: 256}, Random: new(identities)}
	must.Do(t, live.Build(context.Background(), dir, []*ndf.File{pages}, live.BuildOptions{Options: o}))
}

func writeGolden(t *testing.T) {
	must.Do(t, os.RemoveAll(golden))
	must.Do(t, os.MkdirAll(golden, 0o755))
	path := filepath.Join(golden, "pages.ndf")
	w, err := ndf.Create(path, simhash.Simhash(), store.Options{})
	must.Do(t, err)
	defer w.Abort()
	f := uint64(0x243f6a8885a308d3)
	for i := range 400 {
		switch i % 8 {
		case 0, 1, 2, 3: // a new page
			f = f*6364136223846793005 + 1442695040888963407
			f ^= f >> 29
		case 4, 5: // a near-duplicate of the previous page
			f ^= 1 << (i % 64)
		} // otherwise a copy of it
		must.Do(t, w.Append(ndf.Document{ID: fmt.Sprintf("https://example.org/%d/page-%d.html", i/50, i),
			Fingerprint: simhash.Fingerprint(f), TextBytes: 1000 + i}))
	}
	must.Do(t, w.AppendUnmarked(ndf.Document{ID: "https://example.org/empty.html"}))
	must.Do(t, w.Commit())
	pin(t, path, store.KindFingerprints)
	pages := openFile(t, path)
	for _, layout := range goldenLayouts {
		buildGolden(t, filepath.Join(golden, string(layout)), pages, layout)
	}
	must.Do(t, os.WriteFile(filepath.Join(golden, "answers.tsv"), []byte(oracleAnswers(t, pages)), 0o644))
}

// pin gives a file an identity that does not change, by writing it once more.
func pin(t *testing.T, path string, kind store.Kind) {
	t.Helper()
	f, err := store.Open(path, kind)
	must.Do(t, err)
	defer f.Close()
	must.Do(t, os.WriteFile(path, hostile.Bytes(kind, identity(f.Identity().Generation, 1), f.Sections()), 0o644))
}
