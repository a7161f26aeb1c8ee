package ndf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// pipe has a file read from a pipe.
func pipe(content []byte) OpenOptions {
	return OpenOptions{Stream: func(path string) (io.ReadCloser, string, error) {
		return io.NopCloser(bytes.NewReader(content)), path, nil
	}}
}

// opened opens a file with the content by name, and again through a pipe. Both must give the same result.
func opened(t *testing.T, name string, content []byte) (*File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, content, 0o644))
	f, err := Open(path, OpenOptions{})
	piped, pipedErr := Open(name, pipe(content))
	if (err == nil) != (pipedErr == nil) || err == nil && !slices.Equal(f.Fingerprints(), piped.Fingerprints()) {
		t.Errorf("%s: %v by name, %v from a pipe", name, err, pipedErr)
	}
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

// ids returns the IDs that a File yields.
func ids(t *testing.T, all func(func(string, error) bool)) (list []string) {
	t.Helper()
	all(func(id string, err error) bool {
		must.Do(t, err)
		list = append(list, id)
		return true
	})
	return list
}

func TestText(t *testing.T) {
	f, err := opened(t, "p.txt", []byte("\n0123456789abcdef\ta\\tb\r\n0xFEDCBA9876543210\tc\n----------------\tshort\n"))
	if err != nil || !f.HasIDs() || f.Recipe() != nil || f.Len() != 2 || f.IDBytes() != 4 {
		t.Fatal(f, err)
	}
	if !slices.Equal(f.Fingerprints(), []uint64{0x0123456789abcdef, 0xfedcba9876543210}) || !slices.Equal(ids(t, f.IDs),
		[]string{"a\tb", "c"}) ||
		!slices.Equal(ids(t, f.Unmarked), []string{"short"}) {
		t.Errorf("%x, %q, %q", f.Fingerprints(), ids(t, f.IDs), ids(t, f.Unmarked))
	}
	if id, err := f.Lookup().ID(1); err != nil || id != "c" {
		t.Error(id, err)
	}
	if f, err := opened(t, "plain", []byte("0123456789abcdef\n0123456789abcdee")); err != nil || f.HasIDs() ||
		f.Len() != 2 {
		t.Error(f, err)
	}
	recipe := simhash.Default()
	if f.MadeBy(&recipe) != nil || f.Recipe() != &recipe || f.MadeBy(&recipe) != nil {
		t.Error(f.Recipe())
	}
	for in, want := range map[string]string{
		"0123456789abcdef\n0123456789abcdef,\n":   "line 2 is no fingerprint",
		"0123456789abcdef\ta\n0123456789abcdef\n": "1 lines have an ID and 1 have none",
		"0123456789abcdef\nnothing\n": "line 2 is no fingerprint, which is 16 " +
			"hexadecimal digits, tab, ID: \"nothing\"",
		"0123456789abcdef\n0123456789abcde\n":                               "line 2 is no fingerprint",
		"these are words and no fingerprints at all, so they are refused\n": "this is text",
	} {
		if _, err := opened(t, "bad.txt", []byte(in)); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestHaveIDs checks that files with IDs and files without IDs cannot be combined, in either order. A file without
// documents can be combined with all.
func TestHaveIDs(t *testing.T) {
	with, err1 := opened(t, "with", []byte("0123456789abcdef\ta\n"))
	without, err2 := opened(t, "without.bin", make([]byte, 64))
	empty, err3 := opened(t, "empty.bin", nil)
	must.Do(t, errors.Join(err1, err2, err3))
	for _, c := range []struct {
		files []*File
		have  bool
	}{{nil, false}, {[]*File{empty}, false}, {[]*File{without, without}, false}, {[]*File{with, with}, true},
		{[]*File{empty, with}, true}, {[]*File{with, empty}, true}} {
		if have, err := HaveIDs(c.files); have != c.have || err != nil {
			t.Errorf("%v of %d files: %v", have, len(c.files), err)
		}
	}
	for _, mixed := range [][]*File{{with, without}, {without, with}, {empty, without, without, with}} {
		if _, err := HaveIDs(mixed); !errors.Is(err, simhash.ErrMixed) || !strings.Contains(err.Error(),
			"with have IDs, those of ") || !strings.HasSuffix(err.Error(), "without.bin have none") {
			t.Error(err)
		}
	}
}

func FuzzOther(f *testing.F) {
	f.Add([]byte("0123456789abcdef\ta\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open("f", pipe(data))
		if err != nil {
			return
		}
		n := 0
		file.IDs(func(string, error) bool { n++; return true })
		if file.HasIDs() && uint64(n) != file.Len() || uint64(len(file.Fingerprints())) != file.Len() {
			t.Fatalf("%d documents, %d IDs", file.Len(), n)
		}
		file.Close()
	})
}

// TestNoRawFingerprints refuses files whose length is a multiple of 8 bytes, but that are no arrays of uint64.
func TestNoRawFingerprints(t *testing.T) {
	words := func(n int) string {
		var b []byte
		r := rand.New(rand.NewPCG(1, 2))
		for range n {
			b = binary.LittleEndian.AppendUint64(b, r.Uint64())
		}
		return string(b)
	}
	zeros := string(make([]byte, 8000))
	for _, c := range []struct{ name, data, want string }{
		{"a.jsonl", strings.Repeat(`{"text": "rivers"}`+"\r\n\t   ", 8), "this is text"},
		// cut within a character at 4,096, and whole at the end
		{"chinese.txt", strings.Repeat("大河向东流了", 1000)[:16000], "this is text"},
		{"f.npy", "\x93NUMPY" + words(10)[6:], "this is a NumPy array with a header"},
		{"f.bin.gz", "\x1f\x8b\x08" + words(10)[3:], "this is compressed by gzip"},
		{"text.bin", strings.Repeat("letters ", 100), "this is text"},
		{"few", strings.Repeat("letters ", 3), "this is text"},
		{"a.json", "[1,2,3]\n", "this is text"},
		{"decimal", strings.Repeat("12345678901234567890\tid-1\n", 8),
			"this is text, not an array of uint64; a line of fingerprints is 16 hexadecimal digits, tab, ID; "},
		{"prints", words(1000), ""},
		{"zeros", zeros, ""},
		{"half zeros", "text text text text text text te" + zeros, ""},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		must.Do(t, os.WriteFile(path, []byte(c.data), 0o644))
		if len(c.data)%8 != 0 {
			t.Fatalf("%s: %d bytes would be refused anyway", c.name, len(c.data))
		}
		read := func(f *File, err error) {
			t.Helper()
			if c.want == "" {
				must.Do(t, err)
				if f.Len() != uint64(len(c.data)/8) {
					t.Errorf("%s: %d fingerprints", c.name, f.Len())
				}
				f.Close()
			} else if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(),
				c.name+": raw fingerprints, offset 0x0: "+c.want) ||
				!strings.HasSuffix(err.Error(), "; --raw reads it anyway") {
				t.Errorf("%v, want %s: %s", err, c.name, c.want)
			}
		}
		read(Open(path, OpenOptions{}))
		read(Open(path, pipe([]byte(c.data))))
		c.want = ""
		read(Open(path, OpenOptions{Raw: true}))
		raw := pipe([]byte(c.data))
		raw.Raw = true
		read(Open(path, raw))
	}
}

// TestWriteArray checks that a file has the format of its ending.
func TestWriteArray(t *testing.T) {
	for name, begins := range map[string]string{"a.bin": "\x01\x00\x00", "a.ndf": "nddhead\n"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path, simhash.Default(), store.Options{})
		must.Do(t, err)
		if err := errors.Join(w.Append(Document{ID: "a", Fingerprint: 1}), w.AppendUnmarked(Document{ID: "short"}),
			w.Append(Document{ID: "b", Fingerprint: 2}), w.Commit()); err != nil {
			t.Fatal(name, err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), begins) {
			t.Errorf("%s begins with %.80q, %v", name, data, err)
		}
		f, err := Open(path, OpenOptions{})
		if err != nil || !slices.Equal(f.Fingerprints(), []uint64{1, 2}) || f.HasIDs() != (name == "a.ndf") ||
			w.LeftOut() != map[bool]int{true: 1}[IsBare(path)] {
			t.Fatal(name, f, err, w.LeftOut())
		}
		f.Close()
		w, err = Create(filepath.Join(t.TempDir(), name), simhash.Default(), store.Options{})
		must.Do(t, err)
		w.Abort()
	}
}
