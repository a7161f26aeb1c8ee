package store

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// small writes a file with every shape of section: empty, shorter than a page,
// two of one name.
func small(t testing.TB, path string, id Identity) {
	t.Helper()
	w, err := create(nil, path, KindSegment, id, 0)
	must.Do(t, err)
	defer w.Abort()
	for _, s := range []struct{ name, data string }{{"a", "first"}, {"empty", ""}, {"twice", "one"}, {"twice", "two"}} {
		w.Section(s.name)
		_, err = w.Write([]byte(s.data))
		must.Do(t, err)
	}
	must.Do(t, w.Commit())
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
	w, err := Create(path, KindFingerprints, 7)
	must.Do(t, err)
	for _, b := range want {
		w.Section("s")
		for len(b) > 0 { // in writes of random sizes
			n := min(len(b), 1+rng.IntN(70_000))
			_, err = w.Write(b[:n])
			must.Do(t, err)
			b = b[n:]
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("the file stands under its name before Commit")
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

// TestEveryBit flips each bit of the smallest file that has everything: each is found.
func TestEveryBit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	small(t, path, Identity{})
	must.Do(t, check(path))
	data, err := os.ReadFile(path)
	must.Do(t, err)
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
	data, _ := os.ReadFile(path)
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
	for _, more := range []int{1, 64, pageBytes} {
		os.WriteFile(path, append(bytes.Clone(data), make([]byte, more)...), 0o644)
		if err := check(path); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("extended by %d bytes: %v", more, err)
		}
		os.WriteFile(path, append(bytes.Clone(data), data[len(data)-more:]...), 0o644)
		if err := check(path); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("its last %d bytes twice: %v", more, err)
		}
	}
}

// TestReplay moves sound blocks to where they do not belong.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	small(t, a, Identity{ID: [16]byte{1}})
	small(t, b, Identity{ID: [16]byte{2}})
	small(t, c, Identity{ID: [16]byte{1}, Generation: 1})
	data, _ := os.ReadFile(a)
	splice := func(from string, src, dst int) {
		t.Helper()
		other, _ := os.ReadFile(from)
		mixed := bytes.Clone(data)
		// A section and its checksum: what a lost or misdirected write leaves.
		copy(mixed[dst*pageBytes:(dst+1)*pageBytes], other[src*pageBytes:])
		path := filepath.Join(dir, "mixed")
		os.WriteFile(path, mixed, 0o644)
		if err := check(path); !errors.Is(err, ErrCorrupt) && !bytes.Equal(mixed, data) {
			t.Errorf("page %d of %s as page %d was not found: %v", src, filepath.Base(from), dst, err)
		}
	}
	splice(a, 2, 3) // between sections
	splice(b, 0, 0) // a header of another file
	splice(c, 0, 0) // of another generation
	// The same bytes in the same place sum differently in another file, so a
	// block may be replayed only with its sum, and that the digest finds.
	f, _ := Open(a, KindSegment)
	g, _ := Open(b, KindSegment)
	h, _ := Open(c, KindSegment)
	defer f.Close()
	defer g.Close()
	defer h.Close()
	for i := range f.entries {
		if s := f.entries[i].digest; f.entries[i].length > 0 && (s == g.entries[i].digest || s == h.entries[i].digest) {
			t.Errorf("section %d has one digest in two files", i)
		}
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
		`"index segment" where "index manifest" is needed`) {
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

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "f"), KindSegment, 0)
	must.Do(t, err)
	w.Section("s")
	w.Write(make([]byte, 1<<20))
	w.Abort()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

// FuzzOpen repairs the checksums of a mutated file, so that the fuzzer gets
// past them: whatever the fields say, no panic and a typed error.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "f")
	small(f, path, Identity{})
	data, _ := os.ReadFile(path)
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
	le := func(at int) uint64 { return Uint64s(b[at : at+8])[0] }
	put := func(at int, v uint64) { copy(b[at:], Bytes64([]uint64{v})) }
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
	w, err := Create(path, KindSegment, 1)
	must.Do(b, err)
	defer w.Abort()
	w.Section("s")
	rng := rand.New(rand.NewPCG(1, 1))
	for range 256 {
		p := make([]uint64, 1<<17)
		for i := range p {
			p[i] = rng.Uint64()
		}
		w.Write(Bytes64(p))
	}
	must.Do(b, w.Commit())
	f, err := Open(path, KindSegment)
	must.Do(b, err)
	defer f.Close()
	b.SetBytes(int64(f.Bytes()))
	for b.Loop() {
		must.Do(b, f.Verify(b.Context(), 1, nil))
	}
}

// TestSectionJSON: a section of JSON with a field that this program does not know is of a newer
// one, and said to be.
func TestSectionJSON(t *testing.T) {
	for content, want := range map[string]string{
		`{"keys":7}`:            "",
		`{"keys":7,"height":2}`: `memory: made, offset 0x15: field "height", which this ndd does not know: a newer one wrote it`,
		`{"keys":7} {}`:         "data behind the JSON value",
		`{"keys":}`:             "offset 0x9: invalid character",
	} {
		var m Memory
		m.Section("made")
		m.Write([]byte(content))
		s, err := m.Source().Section("made")
		must.Do(t, err)
		var into struct{ Keys int }
		err = s.JSON(&into)
		switch {
		case want == "" && (err != nil || into.Keys != 7):
			t.Errorf("%s: %v, %v", content, into, err)
		case want != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}
