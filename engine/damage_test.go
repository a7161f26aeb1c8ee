package engine

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

const pageBytes = 4096

// read returns the content of a golden file. The files have every kind of section, also names and duplicates.
func read(t testing.TB, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{golden}, elem...)...))
	must.Do(t, err)
	return b
}

// sound opens and verifies a file's content as Open does, up to the tables.
func sound(data []byte, kind store.Kind) error {
	f, err := store.OpenBytes("damaged", data, kind)
	if err != nil {
		return err
	}
	if err := f.Verify(context.Background(), 1, nil); err != nil {
		return err
	}
	if kind == store.KindManifest {
		_, err = live.ParseManifest(f)
	}
	return err
}

// goldenFiles has a file of each kind and layout. Together they have every kind of section.
var goldenFiles = []struct {
	kind store.Kind
	path []string
}{
	{store.KindManifest, []string{"planar", "manifest"}},
	{store.KindSegment, []string{"planar", "00000001.segment"}},
	{store.KindSegment, []string{"huffman", "00000001.segment"}},
	{store.KindFingerprints, []string{"pages.ndf"}},
}

// TestEveryByteOfAnIndex flips a bit of each byte of each file of an index, and truncates each file at each byte.
// Damage must be found before any answer. A hostile file must be refused, and the names in it cost no memory.
func TestEveryByteOfAnIndex(t *testing.T) {
	for _, file := range goldenFiles {
		data := read(t, file.path...)
		must.Do(t, sound(data, file.kind))
		bad := bytes.Clone(data)
		hostile.Allocates(t, uint64(2*len(data))<<12, func() {
			for pos := range data {
				bad[pos] ^= 1 << (pos % 8)
				flipped := sound(bad, file.kind)
				bad[pos] ^= 1 << (pos % 8)
				cut := sound(data[:pos], file.kind)
				if !errors.Is(flipped, store.ErrCorrupt) || !errors.Is(cut, store.ErrCorrupt) ||
					!strings.Contains(cut.Error(), "damaged: ") {
					t.Errorf("%s, byte %#x: flipped %v; cut %v", file.path, pos, flipped, cut)
				}
			}
		})
	}
}

// rewritten has the same sections under another identity.
func rewritten(t *testing.T, data []byte, kind store.Kind, id store.Identity) []byte {
	t.Helper()
	f, err := store.OpenBytes("sound", data, kind)
	must.Do(t, err)
	return hostile.Bytes(kind, id, f.Sections())
}

// TestReplayedFiles puts intact files of other indexes and generations into an index.
func TestReplayedFiles(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "index")
	must.Do(t, os.CopyFS(mine, os.DirFS(filepath.Join(golden, "planar"))))
	segmentPath := filepath.Join(mine, "00000001.segment")
	data := read(t, "planar", "00000001.segment")
	for name, other := range map[string][]byte{
		"another index's segment": read(t, "huffman", "00000001.segment"),
		"another file":            rewritten(t, data, store.KindSegment, identity(1, 78)),
		"a newer generation":      rewritten(t, data, store.KindSegment, identity(2, 1)),
	} {
		must.Do(t, os.WriteFile(segmentPath, other, 0o644))
		for _, verify := range []live.Verify{live.VerifyFull, live.VerifyFast} {
			if _, err := openAs(t.Context(), mine, live.OpenOptions{Verify: verify}); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s, verify=%v: %v", name, verify, err)
			}
		}
	}
}

// large makes an index with sections whose checksums live.VerifyFast does not check.
func large(t *testing.T, layout table.Layout) (dir string, fingerprints []uint64) {
	t.Helper()
	fingerprints = sets.Uniform(500_000, 1)
	return built(t, fingerprints, segment.Options{Design: halves(t), Table: table.Options{Layout: layout}}), fingerprints
}

// TestFastAndDamaged flips bits that live.VerifyFast does not check. Queries give answers or typed errors but never
// crash, and Verify finds each flipped bit.
func TestFastAndDamaged(t *testing.T) {
	for _, layout := range goldenLayouts {
		dir, fingerprints := large(t, layout)
		path := filepath.Join(dir, "00000001.segment")
		data, err := os.ReadFile(path)
		must.Do(t, err)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		must.Do(t, err)
		defer file.Close()
		rng := rand.New(rand.NewPCG(3, 3))
		unseen := 0
		for range 60 {
			pos := pageBytes + rng.IntN(len(data)-2*pageBytes)
			file.WriteAt([]byte{data[pos] ^ 1<<rng.IntN(8)}, int64(pos))
			x, err := openAs(t.Context(), dir, live.OpenOptions{Verify: live.VerifyFast})
			if err == nil {
				unseen++
				for i := range 50 {
					if _, err := x.Query(t.Context(), fingerprint(fingerprints[i*7919%len(fingerprints)]), QueryOptions{K: 3, Docs: 2}); err != nil &&
						!errors.Is(err, store.ErrCorrupt) {
						t.Errorf("%s, byte %#x: %v", layout, pos, err)
					}
				}
				err = scrubbed(t, x)
				x.Close()
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s, byte %#x was not found: %v", layout, pos, err)
			}
			file.WriteAt(data[pos:pos+1], int64(pos))
		}
		if unseen < 20 {
			t.Errorf("%s: only %d of 60 flips were in sections that fast leaves out", layout, unseen)
		}
		must.Do(t, scrubbed(t, openAt(t, dir, live.OpenOptions{Verify: live.VerifyFast})))
	}
}
