package ndf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// TestNoRawFingerprints: files whose length would do for an array of uint64, and that are none.
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
		{"f.bin.gz", "\x1f\x8b\x08" + words(10)[3:], "this is compressed by gzip"},
		{"f.pkl", "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00]\x94(K12" + words(10)[1:], "this is a Python pickle"},
		{"text.bin", strings.Repeat("letters ", 100), "this is text"},
		{"few", strings.Repeat("letters ", 3), "this is text"},
		{"a.json", "[1,2,3]\n", "this is text"},
		{"decimal", strings.Repeat("12345678901234567890\tid-1\n", 8),
			"this is text, not an array of uint64; a line of fingerprints is 16 hexadecimal digits, tab, ID, and the first " +
				"one here is \"12345678901234567890\\tid-1\""},
		{"signed", strings.Repeat("-1234567890123456789\tid-1\n", 8),
			"this is text, not an array of uint64; a line of fingerprints is 16 hexadecimal"},
		{"hex", strings.Repeat("0x1f3\tid\n", 8),
			"this is text, not an array of uint64; a line of fingerprints is 16 hexadecimal"},
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
				if err != nil {
					t.Error(err)
					return
				}
				if f.Len() != uint64(len(c.data)/8) {
					t.Errorf("%s: %d fingerprints", c.name, f.Len())
				}
				f.Close()
			} else if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(),
				c.name+": raw fingerprints, offset 0x0: "+c.want) ||
				!strings.HasSuffix(err.Error(), "; --raw reads it as one all the same") {
				t.Errorf("%v, want %s: %s", err, c.name, c.want)
			}
		}
		if array := IsArray(path, []byte(c.data[:min(len(c.data), StartBytes)])); array && c.want != "" || !array &&
			c.name == "prints" {
			t.Errorf("%s: IsArray says %t", c.name, array)
		}
		read(Open(path))
		read(Read(bytes.NewReader([]byte(c.data)), path))
		c.want = ""
		read(OpenRaw(path))
		read(ReadRaw(bytes.NewReader([]byte(c.data)), path))
	}
}

// TestWriteArray: a file has the format of its ending.
func TestWriteArray(t *testing.T) {
	for name, begins := range map[string]string{"a.npy": "\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': " +
		"False, 'shape': (2,), }", "a.bin": "\x01\x00\x00", "a.ndf": "nddhead\n"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path, simhash.Default(), store.Options{})
		must.Do(t, err)
		if err := errors.Join(w.Append(Document{ID: "a", Fingerprint: 1}), w.AppendUnmarked("short", Place{}),
			w.Append(Document{ID: "b", Fingerprint: 2}), w.Commit()); err != nil {
			t.Fatal(name, err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), begins) {
			t.Errorf("%s begins with %.80q, %v", name, data, err)
		}
		f, err := Open(path)
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
