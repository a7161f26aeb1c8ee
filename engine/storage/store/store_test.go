package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// create writes a file of sections.
func create(t testing.TB, path string, id Identity, sections ...Section) {
	t.Helper()
	w, err := CreateWith(path, KindSegment, id.Generation, Options{Random: bytes.NewReader(id.ID[:])})
	must.Do(t, err)
	defer w.Abort()
	for _, s := range sections {
		w.Section(s.Name)
		_, err = w.Write(s.Data)
		must.Do(t, err)
	}
	must.Do(t, w.Commit())
}

// section is a section of a file.
func section(name, data string) Section { return Section{Name: name, Data: []byte(data)} }

// small writes a file with every shape of section: empty, shorter than a page,
// two of one name.
func small(t testing.TB, path string, id Identity) {
	t.Helper()
	create(t, path, id, section("a", "first"), section("empty", ""), section("twice", "one"), section("twice", "two"))
}

// check opens and verifies, as `ndd check` does.
func check(path string) error {
	f, err := Open(path, KindSegment)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify(context.Background(), 1, nil)
}

// checkBytes is check without a file.
func checkBytes(path string, data []byte) error {
	f, err := OpenBytes(path, data, KindSegment)
	if err != nil {
		return err
	}
	return f.Verify(context.Background(), 1, nil)
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	rng := rand.New(rand.NewPCG(1, 2))
	var want [][]byte
	for _, n := range []int{0, 1, pageBytes - 1, pageBytes, pageBytes + 1, blockBytes - 1, blockBytes, blockBytes + 1,
		3*blockBytes + 5} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		want = append(want, b)
	}
	w, err := CreateWith(path, KindFingerprints, 7, Options{})
	must.Do(t, err)
	for _, b := range want {
		w.Section("s")
		for len(b) > 0 { // write in pieces of random sizes
			n := min(len(b), 1+rng.IntN(70_000))
			_, err = w.Write(b[:n])
			must.Do(t, err)
			b = b[n:]
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("the file has its final name before Commit")
	}
	must.Do(t, w.Commit())
	w.Abort()
	f, err := Open(path, KindFingerprints)
	must.Do(t, err)
	defer f.Close()
	if f.Identity() != w.Identity() || f.Identity().Generation != 7 {
		t.Fatal("identity")
	}
	for i, s := range f.Sections() {
		if !bytes.Equal(s.Data, want[i]) || s.Offset%pageBytes != 0 {
			t.Fatalf("section %d differs", i)
		}
	}
	loaded, err := Load(context.Background(), nil, path, KindFingerprints, 2)
	must.Do(t, err)
	defer loaded.Close()
	if err := loaded.Verify(context.Background(), 2, nil); err != nil || !bytes.Equal(loaded.data, f.data) {
		t.Fatalf("loaded: %v", err)
	}
	var done int
	must.Do(t, f.Verify(context.Background(), 1, func(n int) { done += n }))
	if want := int(f.tail.sums) - pageBytes; done != want {
		t.Fatalf("verified %d bytes of %d", done, want)
	}
	must.Do(t, f.Verify(context.Background(), 3, nil))
}

// TestEveryBit flips each bit of the smallest file with every part: each flip is detected.
func TestEveryBit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	small(t, path, Identity{})
	must.Do(t, check(path))
	data := must.Read(t, path)
	for bit := range len(data) * 8 {
		data[bit/8] ^= 1 << (bit % 8)
		if err := checkBytes(path, data); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of byte %#x flipped: %v", bit%8, bit/8, err)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	must.Do(t, checkBytes(path, data))
}

func TestEveryLength(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	small(t, path, Identity{})
	data := must.Read(t, path)
	for n := range len(data) {
		if err := checkBytes(path, data[:n:n]); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if n%997 == 0 { // the same through the system
			os.WriteFile(path, data[:n], 0o644)
			if err := check(path); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("a file of %d bytes: %v", n, err)
			}
		}
	}
	for _, extra := range []int{1, 64, pageBytes} {
		for _, b := range [][]byte{make([]byte, extra), data[len(data)-extra:]} { // zeros, or its last bytes again
			os.WriteFile(path, slices.Concat(data, b), 0o644)
			if err := check(path); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("extended by %d bytes: %v", extra, err)
			}
		}
	}
}

// TestReplay moves sound blocks to other places, alone, with their checksums, and in exchange. It moves them within
// a file and between files that differ in content, identity or generation.
func TestReplay(t *testing.T) {
	random := make([]byte, 3*blockBytes+pageBytes+7)
	rand.NewChaCha8([32]byte{4}).Read(random)
	noise := string(random)
	written := func(id Identity) []byte {
		path := filepath.Join(t.TempDir(), "f")
		zeros := string(make([]byte, 2*blockBytes))
		create(t, path, id, section("s", "first"), section("s", ""), section("s", noise), section("s", zeros),
			section("s", noise[:pageBytes]), section("s", zeros[:blockBytes]))
		return must.Read(t, path)
	}
	data := written(Identity{ID: [16]byte{1}})
	f, err := OpenBytes("sound", data, KindSegment)
	must.Do(t, err)
	r := &replay{t: t, data: data, bad: bytes.Clone(data), tail: f.tail}
	sum := int(f.tail.sums)
	for _, e := range f.entries {
		for from, end := int(e.offset), int(e.offset+e.padded()); from < end; from += blockBytes {
			r.blocks = append(r.blocks, span{from, min(from+blockBytes, end)})
			r.sums = append(r.sums, span{sum, sum + sumBytes})
			sum += sumBytes
		}
	}
	if len(r.blocks) != 9 || sum != int(f.tail.footer) {
		t.Fatalf("%d blocks; sums up to %#x", len(r.blocks), sum)
	}
	r.within()
	r.between(written(Identity{ID: [16]byte{2}}))
	r.between(written(Identity{ID: [16]byte{1}, Generation: 1}))
}

// A span is a part of a file.
type span struct{ start, end int }

// A replay damages one file in many ways.
type replay struct {
	t            *testing.T
	data, bad    []byte // bad equals data between two calls of try
	tail         trailer
	blocks, sums []span
}

// try copies parts of a file to the same file in bad, as far as they fit. It checks that bad is refused, unless it
// equals the data, and restores it.
func (r *replay) try(name string, source []byte, parts ...[2]span) {
	r.t.Helper()
	for _, p := range parts {
		copy(r.bad[p[1].start:p[1].end], source[p[0].start:p[0].end])
	}
	if err := checkBytes("f", r.bad); !errors.Is(err, ErrCorrupt) && !bytes.Equal(r.bad, r.data) {
		r.t.Errorf("%s: %v", name, err)
	}
	copy(r.bad, r.data)
}

// within moves blocks to other places of the file.
func (r *replay) within() {
	for i, a := range r.blocks {
		for j, b := range r.blocks {
			name := fmt.Sprintf("block %d in place of %d", i, j)
			block, sum := [2]span{a, b}, [2]span{r.sums[i], r.sums[j]}
			if i != j && bytes.Equal(r.data[r.sums[i].start:r.sums[i].end], r.data[r.sums[j].start:r.sums[j].end]) {
				r.t.Errorf("blocks %d and %d have one sum", i, j) // blocks of zeros, for example
			}
			r.try(name, r.data, block)
			r.try(name+", with its sum", r.data, block, sum)
			if a.end-a.start == b.end-b.start {
				r.try(name+", and the other way round, with their sums", r.data, block, sum, [2]span{b, a},
					[2]span{r.sums[j], r.sums[i]})
			}
		}
	}
}

// between takes parts from another file with the same content.
func (r *replay) between(other []byte) {
	if len(other) != len(r.data) || checkBytes("other", other) != nil {
		r.t.Fatal("not a replay")
	}
	for i, s := range r.sums { // the block has the same bytes
		if bytes.Equal(r.data[s.start:s.end], other[s.start:s.end]) {
			r.t.Errorf("block %d has the same sum in another file", i)
		}
		r.try(fmt.Sprintf("sum %d of another file", i), other, [2]span{s, s})
	}
	sums, footer, end := int(r.tail.sums), int(r.tail.footer), len(r.data)-trailerBytes
	for _, part := range []span{{0, pageBytes}, {sums, footer}, {footer, end}, {end, len(r.data)}, {sums, end},
		{sums, len(r.data)}, {footer, len(r.data)}, {pageBytes, len(r.data)}, {0, sums}, {0, end}} {
		r.try(fmt.Sprintf("bytes %#x to %#x of another file", part.start, part.end), other, [2]span{part, part})
	}
}

func TestForeign(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"", "x", "nddhead\n", strings.Repeat("x", 10_000),
		"nddhead\n" + strings.Repeat("\x00", 10_000)} {
		os.WriteFile(path, []byte(content), 0o644)
		if _, err := Open(path, KindSegment); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%.10q: %v", content, err)
		}
	}
	small(t, path, Identity{})
	if _, err := Open(path, KindManifest); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(),
		`"index segment", want "index manifest"`) {
		t.Errorf("wrong kind: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), KindSegment); !errors.Is(err, os.ErrNotExist) || errors.Is(err,
		ErrCorrupt) {
		t.Errorf("missing: %v", err)
	}
	f, _ := Open(path, KindSegment)
	defer f.Close()
	for _, name := range []string{"none", "twice"} {
		if _, err := f.Section(name); !errors.Is(err, ErrCorrupt) {
			t.Errorf("section %q: %v", name, err)
		}
	}
}

// FuzzOpen repairs the checksums of mutated files, so that the fuzzer gets past them. Open does not panic, and its
// errors are typed.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "f")
	small(f, path, Identity{})
	data := must.Read(f, path)
	f.Add(data[:64], data[len(data)-trailerBytes-4*entryBytes:])
	f.Fuzz(func(t *testing.T, head, tail []byte) {
		b := bytes.Clone(data)
		copy(b[:pageBytes-sumBytes], head)
		copy(b[len(b)-min(len(tail), trailerBytes+4*entryBytes):], tail)
		file := File{path: "fuzz", data: b}
		repair(b)
		if err := file.parse(); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for _, s := range file.Sections() {
			_ = bytes.Count(s.Data, []byte{0}) // touches every byte
		}
		if err := file.Verify(t.Context(), 1, nil); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// repair recomputes the checksums of header, footer and trailer in place.
func repair(b []byte) {
	le := func(offset int) uint64 { return Uint64s(b[offset : offset+8])[0] }
	put := func(offset int, v uint64) { copy(b[offset:], Bytes64([]uint64{v})) }
	id := Identity{ID: [16]byte(b[16:32]), Generation: le(32)}
	put(pageBytes-sumBytes, id.sum(headerSection, 0, b[:pageBytes-sumBytes]))
	end := len(b) - trailerBytes
	if footer := le(end + 8); footer <= uint64(end) {
		put(end+32, id.sum(footerSection, 0, b[footer:end]))
	}
	put(end+48, id.sum(trailerSection, 0, b[end:end+48]))
}

// BenchmarkVerify is `ndd check` on one core, of a file in the page cache.
func BenchmarkVerify(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	create(b, path, Identity{}, Section{Name: "s", Data: make([]byte, 256<<20)})
	f, err := Open(path, KindSegment)
	must.Do(b, err)
	defer f.Close()
	b.SetBytes(int64(f.Bytes()))
	for b.Loop() {
		must.Do(b, f.Verify(b.Context(), 1, nil))
	}
}

// TestSectionJSON decodes JSON with a field of a newer version, trailing data and a syntax error: the messages name
// them.
func TestSectionJSON(t *testing.T) {
	for content, want := range map[string]string{
		`{"keys":7}`:            "",
		`{"keys":7,"height":2}`: `memory: made, offset 0x15: unknown field "height": a newer ndd wrote it`,
		`{"keys":7} {}`:         "data after the JSON value",
		`{"keys":}`:             "offset 0x9: invalid character",
	} {
		s := Section{Name: "made", Data: []byte(content)}
		var into struct{ Keys int }
		err := s.JSON(&into)
		switch {
		case want == "" && (err != nil || into.Keys != 7):
			t.Errorf("%s: %v, %v", content, into, err)
		case want != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}
