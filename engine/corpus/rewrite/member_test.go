package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// gzipMember returns a member that this program would not write: it is not compressed, and has a name.
func gzipMember(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	must.Do(t, err)
	z.Name = "a name"
	_, err = z.Write([]byte(content))
	must.Do(t, err)
	must.Do(t, z.Close())
	return b.String()
}

// zstdFrame returns a frame that this program would not write, after an empty one: it has no checksum.
func zstdFrame(t *testing.T, content string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	must.Do(t, err)
	defer z.Close()
	return "\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + string(z.EncodeAll([]byte(content), nil))
}

// line returns a line that is unlike the lines of other numbers.
func line(i int) string {
	return fmt.Sprintf(`{"text":"line %d %s"}`, i, strings.Repeat("word ", i)) + "\n"
}

// TestCopyMembers checks that gz members and archive records that lose no document are copied byte for byte. The
// others, and zst frames, are written without the removed documents. The number of threads makes no difference.
func TestCopyMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	contents := []string{line(1) + line(2), line(1) + line(2), line(3), line(6) + line(3) + line(4), "", line(5), line(2)}
	others := []string{line(1) + line(2), "", line(3), line(6) + line(4), "", line(5), ""}
	page := func(i int) string {
		text := strings.Repeat(fmt.Sprint("page ", i, " "), 30)
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			len(text), text)
	}
	pages, restPages := []string{page(1), page(1), page(2), page(1), page(3)}, []string{page(1), "", page(2), "", page(3)}
	for _, c := range []struct {
		name             string
		member           func(*testing.T, string) string
		contents, others []string
	}{
		{"a.jsonl.gz", gzipMember, contents, others}, {"a.jsonl.zst", zstdFrame, contents, others},
		{"a.warc.gz", gzipMember, pages, restPages}, {"a.warc.zst", zstdFrame, pages, restPages},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, same := "", []string{}
			for i, content := range c.contents {
				file += c.member(t, content)
				if content == c.others[i] && content != "" && strings.HasSuffix(c.name, ".gz") {
					same = append(same, c.member(t, content))
				}
			}
			files.Write(t, map[string]string{c.name: file})
			for threads := 1; threads <= 3; threads++ {
				j := equalTexts(format.Options{}, c.name)
				j.Threads = threads
				copies, _ := copied(t, j)
				got, remaining := copies[c.name], copies[c.name]
				for _, member := range same {
					if _, after, found := strings.Cut(remaining, member); !found {
						t.Fatalf("%q is not in %q, or not in order", member, remaining)
					} else {
						remaining = after
					}
				}
				if got := files.Unpack(t, copies)[c.name]; got != strings.Join(c.others, "") {
					t.Errorf("%d threads: %q, want %q", threads, got, c.others)
				}
				if again, _ := copied(t, equalTexts(format.Options{}, c.name)); again[c.name] != got {
					t.Errorf("%d threads: %q, want %q", threads, got, again[c.name])
				}
			}
		})
	}
}

// TestCopyWhole checks that a compressed file that loses nothing is copied as it is. If it is damaged, its sound part
// is copied.
func TestCopyWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := line(1) + line(2)
	packed := files.Pack(t, "a.jsonl.gz", strings.Repeat(lines, 20_000))
	for name, c := range map[string]struct{ file, want string }{
		"whole.jsonl.gz":   {packed, packed},
		"frame.jsonl.zst":  {zstdFrame(t, lines), zstdFrame(t, lines)},
		"damaged.jsonl.gz": {packed[:len(packed)-8], ""},
		"plain.jsonl":      {lines, lines},
	} {
		files.Write(t, map[string]string{name: c.file})
		j := &Job{Inputs: []string{name}, Threads: 2, Judge: func(input.File, int, int) Judge {
			return Judge{Whole: true, Decision: func(io.Writer) {},
				Unit: func(*format.Extractor, format.Unit) (v Verdict, err error) { return v, nil }}
		}}
		copies, report := copied(t, j)
		if c.want == "" {
			if got := files.Unpack(t, copies)[name]; !strings.HasPrefix(got, lines) || len(report.Lost) != 1 {
				t.Errorf("%s: %.99q, %+v", name, got, report)
			}
		} else if copies[name] != c.want || len(report.Lost)+len(report.Unjudged) > 0 {
			t.Errorf("%s: %.99q, want %.99q: %+v", name, copies[name], c.want, report)
		}
	}
}
