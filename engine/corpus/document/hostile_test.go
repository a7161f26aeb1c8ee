package document_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/document"
	"ndd/engine/oracle/must"
)

// allocated reads a file and returns what came of it, and how many bytes of memory that took.
func allocated(t *testing.T, name string, content []byte, format document.Format) (documents int, skips []string,
	bytes uint64) {
	t.Helper()
	tree(t, nil)
	must.Do(t, os.WriteFile(name, content, 0o644))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, err := range document.Read(t.Context(), []string{name}, document.Options{Format: format,
		MaxDocumentBytes: 1 << 20}, nil) {
		skip, ok := errors.AsType[*document.Skip](err)
		switch {
		case ok:
			skips = append(skips, skip.Error())
		case err != nil:
			skips = append(skips, err.Error()) // the last one
		default:
			documents++
		}
	}
	runtime.ReadMemStats(&after)
	return documents, skips, after.TotalAlloc - before.TotalAlloc
}

// TestHostileFiles: files that decompress to much, never end, or claim to be longer than they are
// take bounded memory, and what is not read of them is said.
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
	zipped := func() []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte("text\n\""))
		for range bomb >> 20 {
			w.Write([]byte(megabyte))
		}
		w.Close()
		return b.Bytes()
	}()
	record := func(length string, block string) string {
		return "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://example.org/\r\nContent-Type: " +
			"text/plain\r\nContent-Length: " + length + "\r\n\r\n" + block + "\r\n\r\n"
	}
	record2 := func(kind, block string) string {
		return strings.Replace(strings.Replace(record(strconv.Itoa(len(block)), block), "conversion", kind, 1), "text/plain",
			"application/http", 1)
	}
	const good = 1
	for name, c := range map[string]struct {
		file      string
		content   []byte
		documents int
		said      string
	}{
		"a line without end": {"a.jsonl.zst", squeeze(one, megabyte), good,
			"a.jsonl.zst:2: too large: more than 1048576 bytes"},
		"a document that decompresses": {"a.txt.zst", squeeze(megabyte), 0, "a.txt.zst: too large"},
		"a JSON value without end": {"a.json.zst", squeeze(`[{"text":"one"},{"text":"`, megabyte), good,
			"a JSON value does not end"},
		"a quote that is not closed": {"a.csv.gz", zipped, 0,
			"a record of more than 1048576 bytes; is a quote left open?"},
		"nested arrays": {"a.json", []byte(`[{"text":"one"},{"text":` + strings.Repeat("[", 1<<19) +
			strings.Repeat("]", 1<<19) + "}]"), good, "a.json:1: too large"},
		"nested arrays in a line": {"a.jsonl", []byte(one + `{"text":` + strings.Repeat("[", 1<<18) +
			strings.Repeat("]", 1<<18) + "}\n" + one), 2, "a.jsonl:2: broken: "},
		"nested objects": {"a.jsonl", []byte(one + strings.Repeat(`{"text":`, 1<<16) + "\n" + one), 2,
			"a.jsonl:2: broken: "},
		"a record of a length": {"a.warc", []byte(record("3", "one") + record("4611686018427387904", "two")), good,
			"record at byte"},
		"headers without end": {"a.warc.zst", squeeze(record("3", "one")+"WARC/1.0\r\n",
			strings.Repeat("x: y\r\n", 1<<18)), good, "headers of more than"},
		"a header without end": {"a.warc.zst", squeeze(record("3", "one")+"WARC/1.0\r\n", megabyte), good,
			"and more among its headers"},
		"columns without end": {"a.csv", []byte("text" + strings.Repeat(",", 1<<21)), 0,
			"a record with more than 65536 separators"},
		"members without content": {"a.jsonl.gz", []byte(strings.Repeat(gz(t, ""), 50_000) + gz(t, one)), good, ""},
		"a zstd window of 512 MiB": {"a.jsonl.zst",
			append([]byte("\x28\xb5\x2f\xfd\x00\x98"+string([]byte{byte(len(one)<<3 | 1), 0, 0})), one...), 0,
			"zstd: window size exceeded"},
		"an xz dictionary of 2 GiB": {"a.txt.xz", hugeXz(t), 0, "xz: "},
		"a zstd page, window of 16 MiB": {"a.warc", []byte(record2("response",
			"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd\x00\x70"+string([]byte{byte(len(one)<<3 | 1), 0,
				0})+one)), 0, "content encoding zstd: window size exceeded"},
		"a zstd window beyond all bounds": {"a.jsonl.zst", []byte("\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"), 0, "zstd: "},
	} {
		t.Run(name, func(t *testing.T) {
			documents, skips, took := allocated(t, c.file, c.content, document.Auto)
			if documents != c.documents {
				t.Errorf("%d documents, want %d; %q", documents, c.documents, skips)
			}
			if said := strings.Join(skips, "\n"); !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("%.300q, want %q", said, c.said)
			}
			if took > 64<<20 {
				t.Errorf("%d MiB of memory for a file of %d bytes", took>>20, len(c.content))
			}
		})
	}
}

// hugeXz returns a small file in the xz format that claims a dictionary of 2 GiB.
func hugeXz(t *testing.T) []byte {
	file := hexBytes(t, xzHello)
	const header, dictionary, sum = 12, 16, 20
	file[dictionary] = 38 // 2 << 38/2+11
	binary.LittleEndian.PutUint32(file[sum:], crc32.ChecksumIEEE(file[header:sum]))
	return file
}

// TestFlatMemory: the memory that reading takes does not grow with the file.
func TestFlatMemory(t *testing.T) {
	line := fmt.Sprintf(`{"id":"x","text":%q}`, strings.Repeat("some words of a text ", 40)) + "\n"
	tree(t, map[string]string{"a.jsonl.gz": gz(t, strings.Repeat(line, 20_000))}) // 17 MB
	var most uint64
	n := 0
	for _, err := range document.Read(t.Context(), []string{"a.jsonl.gz"}, document.Options{}, nil) {
		must.Do(t, err)
		if n++; n%2000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if n != 20_000 || most > 8<<20 {
		t.Errorf("%d documents, %d bytes in use at most", n, most)
	}
}
