package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
)

// TestHostileFiles checks that files that decompress to much, never end, or claim to be longer than they are take
// bounded memory. The unread part is reported.
func TestHostileFiles(t *testing.T) {
	const bomb = 128 << 20
	one := `{"text":"one"}` + "\n"
	squeeze := func(parts ...string) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		must.Do(t, err)
		for _, p := range parts {
			for range bomb / max(len(p), 1<<20) {
				if w.Write([]byte(p)); len(p) < 1<<20 {
					break
				}
			}
		}
		w.Close()
		return b.Bytes()
	}
	megabyte := strings.Repeat("x", 1<<20)
	plain := record("conversion", "one", "WARC-Target-URI", "u", "Content-Type", "text/plain")
	const good = 1
	for name, c := range map[string]struct {
		file      string
		content   []byte
		documents int
		messages  string
	}{
		"a line without end": {"a.jsonl.zst", squeeze(one, megabyte), good,
			"a.jsonl.zst:2: too large: more than 1048576 bytes"},
		"a document that decompresses": {"a.txt.zst", squeeze(megabyte), 0, "a.txt.zst: too large"},
		"a JSON value without end": {"a.json.zst", squeeze(`[{"text":"one"},{"text":"`, megabyte), good,
			"a JSON value does not end"},
		"a quote that is not closed": {"a.csv.zst", squeeze("text\n\"", megabyte), 0,
			"a.csv.zst:2: too large: more than 1048576 bytes"},
		"nested arrays": {"a.json", []byte(`[{"text":"one"},{"text":` + strings.Repeat("[", 1<<19) +
			strings.Repeat("]", 1<<19) + "}]"), good, "a.json:2: too large"},
		"nested arrays in a line": {"a.jsonl", []byte(one + `{"text":` + strings.Repeat("[", 1<<18) +
			strings.Repeat("]", 1<<18) + "}\n" + one), 2, "a.jsonl:2: broken: "},
		"nested objects": {"a.jsonl", []byte(one + strings.Repeat(`{"text":`, 1<<16) + "\n" + one), 2, "a.jsonl:2: broken: "},
		"a record of a length": {"a.warc", []byte(plain + strings.Replace(plain, ": 3", ": 4611686018427387904", 1)),
			good, "record at byte"},
		"headers without end": {"a.warc.zst", squeeze(plain+"WARC/1.0\r\n",
			strings.Repeat("x: y\r\n", 1<<18)), good, "headers of more than"},
		"a header without end": {"a.warc.zst", squeeze(plain+"WARC/1.0\r\n", megabyte), good, "and more among its headers"},
		"columns without end": {"a.csv", []byte("text" + strings.Repeat(",", 1<<19)), 0,
			"524288 separators, the limit is 65536"},
		"members without content": {"a.jsonl.gz", []byte(strings.Repeat(gz(t, ""), 50_000) + gz(t, one)), good, ""},
		"a zstd window of 512 MiB": {"a.jsonl.zst",
			append([]byte("\x28\xb5\x2f\xfd\x00\x98"+string([]byte{byte(len(one)<<3 | 1), 0, 0})), one...), 0,
			"zstd: its window is larger than 256 MiB; this reads it: zstd -d --long=31 -c a.jsonl.zst | ndd ... -"},
		"an xz dictionary of 2 GiB": {"a.txt.xz", hugeXz(t), 0,
			"xz: its dictionary is larger than 64 MiB; this reads it: xz -d -c a.txt.xz | ndd ... -"},
		"an xz dictionary of 2 GiB in a later stream": {"a.txt.xz", append(hexBytes(t, xzHello), hugeXz(t)...), 0,
			"after 6 bytes: xz: its dictionary is larger"},
		"xz with a second filter": {"a.txt.xz", xzHeader(t, 13, 1), 0,
			"xz: unsupported filter count; this reads it: xz -d -c a.txt.xz | ndd ... -"},
		"zstd with a dictionary": {"a.jsonl.zst",
			append([]byte("\x28\xb5\x2f\xfd\x01\x38\x07"+string([]byte{byte(len(one)<<3 | 1), 0, 0})), one...), 0,
			"zstd: it was compressed with a dictionary; this reads it: zstd -d -D DICTIONARY -c a.jsonl.zst | ndd ... -"},
		"a zstd page, window of 16 MiB": {"a.warc", []byte(crawled("u", "200 OK\nContent-Encoding: zstd",
			"\x28\xb5\x2f\xfd\x00\x70"+string([]byte{byte(len(one)<<3 | 1), 0, 0})+one)), 0,
			"content encoding zstd: window size exceeded"},
		"a zstd window beyond all bounds": {"a.jsonl.zst", []byte("\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"), 0, "zstd: "},
	} {
		t.Run(name, func(t *testing.T) {
			tree(t, map[string]string{c.file: string(c.content)})
			var got []string
			var err error
			hostile.Allocates(t, 64<<20, func() { got, err = read(t, Options{MaxDocumentBytes: 1 << 20}, nil, c.file) })
			messages := fmt.Sprint(strings.Join(got, "\n"), "\n", err)
			if n := strings.Count(messages, ": one\n"); n != c.documents || !strings.Contains(messages, c.messages) ||
				(c.messages == "") != (n == len(got) && err == nil) {
				t.Errorf("%d documents, want %d; %.300q, want %q", n, c.documents, messages, c.messages)
			}
		})
	}
}

// hugeXz returns a small file in the xz format that claims a dictionary of 2 GiB.
func hugeXz(t *testing.T) []byte {
	const dictionary = 16
	return xzHeader(t, dictionary, 38) // 2 << 38/2+11
}

// xzHeader returns a file in the xz format with another byte in the header of its block.
func xzHeader(t *testing.T, offset int, b byte) []byte {
	file := hexBytes(t, xzHello)
	const header, sum = 12, 20
	file[offset] = b
	binary.LittleEndian.PutUint32(file[sum:], crc32.ChecksumIEEE(file[header:sum]))
	return file
}

// TestCutXz checks that a file of xz that ends early is an error, wherever it ends, and that no data after it is
// skipped.
func TestCutXz(t *testing.T) {
	one, padding := string(hexBytes(t, xzHello)), strings.Repeat("\x00", 4)
	file := one + padding + one + padding
	tree(t, nil)
	for n := len("\xfd7zXZ\x00"); n <= len(file); n++ {
		must.Do(t, os.WriteFile("a.txt.xz", []byte(file[:n]), 0o666))
		got, err := read(t, Options{}, nil, "a.txt.xz")
		messages, want := fmt.Sprint(got, err), "xz: unexpected EOF: is the file cut short?"
		switch n {
		case len(one), len(one + padding):
			want = ": hello\n"
		case len(one + padding + one), len(file):
			want = ": hello\nhello\n"
		}
		if !strings.Contains(messages, want) {
			t.Errorf("%d bytes: %s, want %s", n, messages, want)
		}
	}
	must.Do(t, os.WriteFile("a.txt.xz", []byte(one+"more than a header has"), 0o666))
	if got, err := read(t, Options{}, nil, "a.txt.xz"); !strings.Contains(fmt.Sprint(got, err), "something else follows") {
		t.Errorf("more: %v, %v", got, err)
	}
}

// TestFlatMemory checks that the memory that reading takes does not grow with the file.
func TestFlatMemory(t *testing.T) {
	line := fmt.Sprintf(`{"id":"x","text":%q}`, strings.Repeat("some words of a text ", 40)) + "\n"
	tree(t, map[string]string{"a.jsonl.gz": gz(t, strings.Repeat(line, 20_000))}) // 17 MB
	var maximum uint64
	n := 0
	for _, err := range Read(t.Context(), []string{"a.jsonl.gz"}, Options{}, nil) {
		must.Do(t, err)
		if n++; n%2000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			maximum = max(maximum, m.HeapAlloc)
		}
	}
	if n != 20_000 || maximum > 8<<20 {
		t.Errorf("%d documents, %d bytes in use at most", n, maximum)
	}
}

// readBytes reads bytes as a file with the given name. It demands that only documents, skips and errors with the file's
// name result.
func readBytes(t *testing.T, name string, raw []byte) {
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, raw, 0o644))
	for doc, err := range Read(t.Context(), []string{path}, Options{MaxDocumentBytes: 1 << 20}, nil) {
		skip, skipped := errors.AsType[*input.Skip](err)
		switch {
		case skipped && skip.Source != path, err != nil && !skipped && !strings.Contains(err.Error(), path):
			t.Errorf("%v: names no file", err)
		case err == nil && (doc.ID == "" || doc.Source != path):
			t.Errorf("a document without an ID or source: %+v", doc)
		}
	}
}

// FuzzParquet checks that for any pages, dictionaries and row groups, nothing panics, and unreadable parts are
// reported.
func FuzzParquet(f *testing.F) {
	whole := table(f, 30)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append([]byte("PAR1\x00\x00\x00\x00"), "\xff\xff\xff\x7fPAR1"...))
	f.Fuzz(func(t *testing.T, raw []byte) { readBytes(t, "f.parquet", raw) })
}

// FuzzPacked checks that for any file that begins like a compressed one, nothing panics, and unreadable parts are
// reported.
func FuzzPacked(f *testing.F) {
	const lines = `{"id":"a","text":"one"}` + "\n" + `{"id":"b","text":"two"}` + "\n"
	for _, seed := range []string{gz(f, lines), zst(f, lines), "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F", "BZh91AY&SY", lines} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { readBytes(t, "f.jsonl", raw) })
}

// FuzzCSV checks that for any CSV file, nothing panics, and unreadable parts are reported.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,text\n1,\"one\ntwo\"\n2,\"thr\"\"ee\"\n"))
	f.Add([]byte("text\n\"open"))
	f.Fuzz(func(t *testing.T, raw []byte) { readBytes(t, "f.csv", raw) })
}
