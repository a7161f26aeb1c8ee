package ndf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		{"chinese.txt", strings.Repeat("大河向东流了", 1000)[:16000], "this is text"}, // cut within a character at 4,096, and whole at the end
		{"f.bin.gz", "\x1f\x8b\x08" + words(10)[3:], "this is compressed"},
		{"f.zst", "\x28\xb5\x2f\xfd" + words(10)[4:], "this is compressed"},
		{"text.bin", strings.Repeat("01234567", 100), ""}, // at its word
		{"few", strings.Repeat("01234567", 3), ""},
		{"prints", words(1000), ""},
		{"zeros", zeros, ""},
		{"half zeros", "text text text text text text te" + zeros, ""},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
			t.Fatal(err)
		}
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
			} else if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.name+": raw fingerprints, offset 0x0: "+c.want) {
				t.Errorf("%v, want %s: %s", err, c.name, c.want)
			} else if _, text := errors.AsType[*TextError](err); text != (c.want == "this is text") {
				t.Errorf("%v is a %T", err, err)
			}
		}
		if array := IsArray(path, []byte(c.data[:min(len(c.data), StartBytes)])); array && c.want != "" || !array && c.name == "prints" {
			t.Errorf("%s: IsArray says %t", c.name, array)
		}
		read(Open(path))
		read(Read(bytes.NewReader([]byte(c.data)), path))
	}
}
