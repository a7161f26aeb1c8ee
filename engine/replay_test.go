package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

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
