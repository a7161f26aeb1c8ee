package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/hostile"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

const pageBytes = 4096

// read is a golden file's content: every section there is, names and
// duplicates among them.
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

// goldenFiles are one of each kind and layout: together, every section there is.
var goldenFiles = []struct {
	kind store.Kind
	path []string
}{
	{store.KindManifest, []string{"planar", "manifest"}},
	{store.KindSegment, []string{"planar", "00000001.segment"}},
	{store.KindSegment, []string{"huffman", "00000001.segment"}},
	{store.KindFingerprints, []string{"pages.ndf"}},
}

// TestEveryBitOfAnIndex is the promise that damage is found: each flipped bit, before any answer.
// Without -long it takes one bit of each byte.
func TestEveryBitOfAnIndex(t *testing.T) {
	for _, file := range goldenFiles {
		data := read(t, file.path...)
		must.Do(t, sound(data, file.kind))
		var next atomic.Int64
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				bad := bytes.Clone(data)
				for {
					at := int(next.Add(1)) - 1
					if at >= len(bad) {
						return
					}
					first, last := long.Or(at%8, 0), long.Or(at%8, 7)
					for bit := first; bit <= last; bit++ {
						bad[at] ^= 1 << bit
						if err := sound(bad, file.kind); !errors.Is(err, store.ErrCorrupt) {
							t.Errorf("%s, byte %#x, bit %d: %v", file.path, at, bit, err)
						}
						bad[at] ^= 1 << bit
					}
				}
			})
		}
		group.Wait()
	}
}

// TestEveryLengthOfAnIndex is the promise on hostile files, for every length: a typed error that
// names the file, and no memory taken because of what a file says of itself.
func TestEveryLengthOfAnIndex(t *testing.T) {
	for _, file := range goldenFiles {
		data := read(t, file.path...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n := range data {
			if err := sound(data[:n], file.kind); !errors.Is(err, store.ErrCorrupt) ||
				!strings.Contains(err.Error(), "damaged: ") {
				t.Fatalf("%s cut to %d bytes: %v", file.path, n, err)
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(data)); each > 1<<12 {
			t.Errorf("%s: %d bytes are allocated to refuse a truncated file", file.path, each)
		}
		for n := 1; n <= 2*pageBytes; n += 61 {
			for _, more := range [][]byte{make([]byte, n), data[len(data)-min(n, len(data)):]} {
				if err := sound(append(slices.Clip(data), more...), file.kind); !errors.Is(err, store.ErrCorrupt) {
					t.Fatalf("%s extended by %d bytes: %v", file.path, n, err)
				}
			}
		}
	}
}

// rewritten has the same sections under another identity.
func rewritten(t *testing.T, data []byte, kind store.Kind, id store.Identity) []byte {
	t.Helper()
	f, err := store.OpenBytes("sound", data, kind)
	must.Do(t, err)
	return hostile.Bytes(kind, id, f.Sections())
}

// TestReplayedFiles puts whole sound files of other indexes and generations
// into an index.
func TestReplayedFiles(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "index")
	must.Do(t, os.CopyFS(mine, os.DirFS(filepath.Join(golden, "planar"))))
	segmentPath := filepath.Join(mine, "00000001.segment")
	data := read(t, "planar", "00000001.segment")
	for what, other := range map[string][]byte{
		"another index's segment": read(t, "huffman", "00000001.segment"),
		"another file":            rewritten(t, data, store.KindSegment, identity(1, 78)),
		"a newer generation":      rewritten(t, data, store.KindSegment, identity(2, 1)),
	} {
		must.Do(t, os.WriteFile(segmentPath, other, 0o644))
		for _, verify := range []live.Verify{VerifyFull, VerifyFast} {
			if _, err := Open(t.Context(), mine, OpenOptions{Verify: verify}); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s, verify=%v: %v", what, verify, err)
			}
		}
	}
}

// large is an index with sections that VerifyFast does not hold against their
// checksums.
func large(t *testing.T, layout table.Layout) (dir string, prints []uint64) {
	t.Helper()
	prints = sets.Uniform(500_000, 1)
	return built(t, prints, segment.Options{Design: halves(t), Table: table.Options{Layout: layout}}), prints
}

// TestFastAndDamaged flips bits that VerifyFast does not see: queries give
// answers or typed errors but never crash, and Verify finds each.
func TestFastAndDamaged(t *testing.T) {
	for _, layout := range goldenLayouts {
		dir, prints := large(t, layout)
		path := filepath.Join(dir, "00000001.segment")
		data, err := os.ReadFile(path)
		must.Do(t, err)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		must.Do(t, err)
		defer file.Close()
		rng := rand.New(rand.NewPCG(3, 3))
		unseen := 0
		for range 60 {
			at := pageBytes + rng.IntN(len(data)-2*pageBytes)
			file.WriteAt([]byte{data[at] ^ 1<<rng.IntN(8)}, int64(at))
			x, err := Open(t.Context(), dir, OpenOptions{Verify: VerifyFast})
			if err == nil {
				unseen++
				for i := range 50 {
					if _, err := x.Query(t.Context(), fingerprint(prints[i*7919%len(prints)]), 3, 2); err != nil &&
						!errors.Is(err, store.ErrCorrupt) {
						t.Errorf("%s, byte %#x: %v", layout, at, err)
					}
				}
				err = scrubbed(t, x)
				x.Close()
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s, byte %#x was not found: %v", layout, at, err)
			}
			file.WriteAt(data[at:at+1], int64(at))
		}
		if unseen < 20 {
			t.Errorf("%s: only %d of 60 flips were in sections that fast leaves out", layout, unseen)
		}
		x, err := Open(t.Context(), dir, OpenOptions{Verify: VerifyFast})
		must.Do(t, err)
		must.Do(t, scrubbed(t, x))
		x.Close()
	}
}

// A block is one place of a file that has a checksum of its own.
type block struct {
	section  string
	from, to int // in the file
	sum      int // offset of its checksum
}

func (b block) of(data []byte) []byte    { return data[b.from:b.to] }
func (b block) sumOf(data []byte) []byte { return data[b.sum : b.sum+8] }

// blocksOf reads a file's footer, as FORMAT.md has it.
func blocksOf(t *testing.T, data []byte) (list []block) {
	t.Helper()
	const blockBytes = 1 << 16
	end := len(data) - 64
	sum, footer := int(le(data[end:])), int(le(data[end+8:]))
	for e := footer; e < end; e += 64 {
		name := string(bytes.TrimRight(data[e:e+32], "\x00"))
		from, bytes := int(le(data[e+32:])), int(le(data[e+40:]))
		to := from + (bytes+pageBytes-1)/pageBytes*pageBytes
		for ; from < to; from += blockBytes {
			list = append(list, block{name, from, min(from+blockBytes, to), sum})
			sum += 8
		}
	}
	if sum != footer {
		t.Fatalf("%d bytes of sums left", footer-sum)
	}
	return list
}

func le(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// replayed is the files whose blocks are moved: the golden ones, whose sections have one block
// each, and larger ones of which each section that grows with the documents has several.
func replayed(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, file := range goldenFiles {
		files[filepath.Join(file.path...)] = read(t, file.path...)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pages.ndf")
	w, err := ndf.Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	defer w.Abort()
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 60_000 {
		d := ndf.Document{ID: fmt.Sprintf("https://example.org/%x", rng.Uint64()),
			Fingerprint: simhash.Fingerprint(rng.Uint64()), TextBytes: i}
		must.Do(t, errors.Join(w.Append(d), w.AppendUnmarked(d.ID, ndf.Place{})))
	}
	must.Do(t, w.Commit())
	pages, err := ndf.Open(path)
	must.Do(t, err)
	defer pages.Close()
	prints := make([]uint64, 600_000)
	for i := range prints {
		prints[i] = rng.Uint64() >> (i % 2 * 45) // half of them often
	}
	raw := rawFile(t, prints)
	build := func(name string, from *ndf.File, layout table.Layout) {
		index := filepath.Join(dir, name)
		o := segment.Options{Design: halves(t), Table: table.Options{Layout: layout, BlockBytes: 256}}
		must.Do(t, Build(t.Context(), index, []*ndf.File{from}, BuildOptions{Options: o}))
		files[name] = fileBytes(t, filepath.Join(index, "00000001.segment"))
	}
	build("planar of many", raw, table.LayoutPlanar)
	build("huffman of many", raw, table.LayoutHuffman)
	build("names of many", pages, table.LayoutPlanar)
	files["pages of many"] = fileBytes(t, path)
	return files
}

func fileBytes(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must.Do(t, err)
	return b
}

func kindOf(data []byte) store.Kind { return store.Kind(binary.LittleEndian.Uint32(data[12:])) }

// longSections are those that must have several blocks in the larger files, so that a block
// can take the place of another one of its own section.
var longSections = map[string][]string{
	"planar of many":  {"ids.ordinals", "ids.firsts", "t0.lines", "t0.low", "t0.rest", "t1.low"},
	"huffman of many": {"ids.ordinals", "ids.firsts", "t0.blocks", "t1.blocks"},
	"names of many":   {"ids.ordinals", "names"},
	"pages of many":   {"fingerprints", "text.bytes", "names", "unmarked"},
}

// TestReplayedBlocks is the promise that damage is found, for blocks that are sound and stand where
// they do not belong, in every kind of file, alone and with their sums: they are found, be they of
// another place of the file, of another file with the same content, or of another generation of the
// same file.
func TestReplayedBlocks(t *testing.T) {
	for name, data := range replayed(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &replay{data: data, bad: bytes.Clone(data), kind: kindOf(data), blocks: blocksOf(t, data)}
			count := make(map[string]int)
			for _, b := range r.blocks {
				count[b.section]++
			}
			for _, section := range longSections[name] {
				if count[section] < 2 {
					t.Errorf("%s has %d blocks", section, count[section])
				}
			}
			r.within(t)
			r.between(t)
		})
	}
}

// A replay spoils one file in many ways.
type replay struct {
	data, bad []byte // bad equals data between tries
	kind      store.Kind
	blocks    []block
}

// try demands that bad is refused, unless it is the same as the data, and mends it at from and
// at to.
func (r *replay) try(t *testing.T, what string, parts ...[2]int) {
	t.Helper()
	same := true
	for _, p := range parts {
		same = same && bytes.Equal(r.bad[p[0]:p[1]], r.data[p[0]:p[1]])
	}
	if !same {
		if err := sound(r.bad, r.kind); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, p := range parts {
		copy(r.bad[p[0]:p[1]], r.data[p[0]:p[1]])
	}
}

// within moves blocks to other places of the file: all pairs of few blocks, and of many those
// next to each other and a random part.
func (r *replay) within(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	n := len(r.blocks)
	for i := range n {
		for j := range n {
			if n > 40 && j != i+1 && rng.IntN(n*n) > 150 {
				continue
			}
			a, b := r.blocks[i], r.blocks[j]
			to, from := a.of(r.bad), b.of(r.data)
			if len(from) > len(to) { // as much of it as there is room for
				from = from[:len(to)]
			}
			copy(to, from)
			r.try(t, fmt.Sprintf("block %d (%s) in place of %d (%s)", j, b.section, i, a.section), [2]int{a.from, a.to})
			copy(to, from)
			copy(a.sumOf(r.bad), b.sumOf(r.data))
			r.try(t, fmt.Sprintf("block %d (%s) in place of %d (%s), with its sum", j, b.section, i, a.section),
				[2]int{a.from, a.to}, [2]int{a.sum, a.sum + 8})
			if a.to-a.from != b.to-b.from {
				continue
			}
			copy(to, from)
			copy(b.of(r.bad), a.of(r.data))
			copy(a.sumOf(r.bad), b.sumOf(r.data))
			copy(b.sumOf(r.bad), a.sumOf(r.data))
			r.try(t, fmt.Sprintf("blocks %d (%s) and %d (%s) swapped, with their sums", j, b.section, i, a.section),
				[2]int{a.from, a.to}, [2]int{b.from, b.to}, [2]int{a.sum, a.sum + 8}, [2]int{b.sum, b.sum + 8})
		}
	}
}

// between takes parts from the same content under another identity, and under another generation.
func (r *replay) between(t *testing.T) {
	id := store.Identity{ID: [16]byte(r.data[16:32]), Generation: le(r.data[32:])}
	newer, foreign := id, id
	newer.Generation++
	foreign.ID[3] ^= 1
	end := len(r.data) - 64
	sums, footer := int(le(r.data[end:])), int(le(r.data[end+8:]))
	for name, id := range map[string]store.Identity{"file": foreign, "generation": newer} {
		other := rewritten(t, r.data, r.kind, id)
		if len(other) != len(r.data) || sound(other, r.kind) != nil {
			t.Fatal("not a replay")
		}
		for i, b := range r.blocks {
			if bytes.Equal(b.sumOf(r.data), b.sumOf(other)) {
				t.Errorf("block %d (%s) has the same sum in another %s", i, b.section, name)
			}
			copy(b.sumOf(r.bad), b.sumOf(other)) // the block has the same bytes
			r.try(t, fmt.Sprintf("sum %d of another %s", i, name), [2]int{b.sum, b.sum + 8})
		}
		for _, part := range [][2]int{{0, pageBytes}, {sums, footer}, {footer, end}, {end, len(r.data)},
			{sums, end}, {sums, len(r.data)}, {footer, len(r.data)}, {pageBytes, len(r.data)}, {0, sums}, {0, end}} {
			copy(r.bad[part[0]:part[1]], other[part[0]:part[1]])
			r.try(t, fmt.Sprintf("bytes %#x to %#x of another %s", part[0], part[1], name), part)
		}
	}
}
