package ndf

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

func write(t testing.TB, path string, docs, unmarked int) {
	t.Helper()
	must.Do(t, writeTo(nil, path, docs, unmarked))
}

func writeTo(d *disk.Disk, path string, docs, unmarked int) error {
	w, err := Create(path, simhash.Default(), store.Options{Disk: d})
	if err != nil {
		return err
	}
	defer w.Abort()
	for i := range docs {
		if err := w.Append(Document{ID: name(i), Fingerprint: fingerprint(i), TextBytes: i % 1000}); err != nil {
			return err
		}
	}
	for i := range unmarked {
		if err := w.AppendUnmarked(Document{ID: name(-i)}); err != nil {
			return err
		}
	}
	return w.Commit()
}

// TestFaults makes each call to the disk fail in turn. Every failure is reported, and no partial file remains.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.ndf")
	faults.Each(t, 1, func(d *disk.Disk) error {
		must.Do(t, os.RemoveAll(path))
		return writeTo(d, path, 5000, 7)
	}, func(f faults.Fault, whole bool) {
		if remaining := faults.FileNames(t, dir); remaining != map[bool]string{true: "f.ndf"}[whole] {
			t.Errorf("%+v: %s", f, remaining)
		}
	})
}

func name(i int) string { return "page/" + strconv.Itoa(i) }
func fingerprint(i int) simhash.Fingerprint {
	return simhash.Fingerprint(uint64(i) * 0x9e3779b97f4a7c15)
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.ndf")
	for _, docs := range []int{0, 1, 1000, chunkDocs, chunkDocs + 3} {
		write(t, path, docs, docs%7)
		f, err := Open(path, OpenOptions{})
		must.Do(t, err)
		if f.Len() != uint64(docs) || *f.Recipe() != simhash.Default() || !f.HasIDs() {
			t.Fatalf("%d documents, recipe %v", f.Len(), f.Recipe())
		}
		var names, unmarked []string
		var fingerprints, chunks []uint64
		var lengths, textBytes []uint32
		for i := range docs {
			names, fingerprints, lengths = append(names, name(i)), append(fingerprints, uint64(fingerprint(i))), append(lengths, uint32(i%1000))
		}
		for i := range docs % 7 {
			unmarked = append(unmarked, name(-i))
		}
		for c := range f.Chunks {
			chunks = append(chunks, c...)
		}
		for c := range f.TextBytes {
			textBytes = append(textBytes, c...)
		}
		if !slices.Equal(f.Fingerprints(), fingerprints) || !slices.Equal(chunks, fingerprints) || !slices.Equal(textBytes, lengths) {
			t.Errorf("%d documents: other fingerprints or lengths", docs)
		}
		if !slices.Equal(ids(t, f.IDs), names) || !slices.Equal(ids(t, f.Unmarked), unmarked) {
			t.Errorf("%d documents: other names", docs)
		}
		look := f.Lookup()
		for row := 0; row < docs; row += 1 + docs/50 {
			if s, err := look.ID(uint64(row)); err != nil || s != name(row) {
				t.Fatalf("row %d: %q %v", row, s, err)
			}
		}
		f.Close()
	}
}

// TestLongIDs checks that a chunk of incompressible IDs ends before it has 2^20 documents, and no ID is lost.
func TestLongIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.ndf")
	w, err := Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	const docs = 1700
	rng := rand.NewChaCha8([32]byte{})
	id := make([]byte, 30_000)
	var ids [docs]uint64 // checksums
	for i := range docs {
		rng.Read(id)
		ids[i] = xxhash.Sum64(id)
		must.Do(t, w.Append(Document{ID: string(id), Fingerprint: fingerprint(i)}))
		if held := w.idData.Len(); held > chunkIDBytes+8<<20 {
			t.Fatalf("%d bytes of IDs are held", held)
		}
	}
	must.Do(t, w.Commit())
	f, err := Open(path, OpenOptions{})
	must.Do(t, err)
	defer f.Close()
	if len(f.chunks) < 3 || f.Len() != docs {
		t.Fatalf("%d documents in %d chunks", f.Len(), len(f.chunks))
	}
	i := 0
	for s, err := range f.IDs {
		if err != nil || xxhash.Sum64String(s) != ids[i] {
			t.Fatalf("row %d: %.20q, %v", i, s, err)
		}
		i++
	}
	look := f.Lookup()
	for _, row := range []uint64{0, 700, docs - 1} {
		if s, err := look.ID(row); err != nil || xxhash.Sum64String(s) != ids[row] {
			t.Fatalf("row %d: %.20q, %v", row, s, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	os.WriteFile(at("odd.bin"), make([]byte, 8*5+3), 0o644)
	os.WriteFile(at("text.ndf"), make([]byte, 80), 0o644)
	write(t, at("good.ndf"), 10, 0)
	good, _ := os.ReadFile(at("good.ndf"))
	os.WriteFile(at("cut.ndf"), good[:len(good)-9], 0o644)
	seg, err := store.CreateWith(at("seg"), store.KindSegment, 0, store.Options{})
	must.Do(t, err)
	seg.Commit()
	for _, c := range []struct {
		file, says string
		corrupt    bool
	}{
		{"text.ndf", "not a file of ndd", true},
		{"odd.bin", "offset 0x28: 43 bytes are no multiple of 8", true},
		{"cut.ndf", "trailer", true},
		{"seg", "a part of an index", false},
		{"none", "no such file", false},
		{".", "a folder where a fingerprint file", false},
	} {
		_, err := Open(at(c.file), OpenOptions{})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) ||
			errors.Is(err, store.ErrCorrupt) != c.corrupt {
			t.Errorf("%s: %v", c.file, err)
		}
	}
	f, err := Open(at("odd.bin"), OpenOptions{Raw: true}) // the last, incomplete number was removed
	if err != nil || f.Len() != 5 || len(ids(t, f.IDs)) > 0 || f.Recipe() != nil {
		t.Fatal(f, err)
	}
	f.Close()
}
