package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestReadme runs every command that the README shows, in its order, in a folder with the files that
// it names: each is done, or done in part where a folder has binary files.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	if testing.Short() {
		src = filepath.Join(src, "strings")
	}
	t.Chdir(t.TempDir())
	base := readmeFiles(t)
	calls := commandLines(string(readme))
	if len(calls) < 20 {
		t.Fatalf("only %d commands", len(calls))
	}
	for _, call := range calls {
		var args []string
		for _, word := range strings.Fields(strings.ReplaceAll(call, `"$(go env GOROOT)/src"`, src))[1:] {
			args = append(args, expand(t, word)...)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var stdout io.Writer = io.Discard
		if args[0] == "serve" {
			args = append(args, "--listen", "127.0.0.1:0", "--admin", "off")
			stdout = &untilWritten{cancel} // what it writes is that it is ready
		}
		var said bytes.Buffer
		status := run(ctx, args, bytes.NewReader(base), stdout, &said)
		if cancel(); status != exitDone && !(status == exitPartly && strings.Contains(call, "GOROOT")) { // whose test data has files that are no text
			t.Errorf("%s: status %d: %s", call, status, &said)
		}
	}
}

// untilWritten cancels as soon as something is written.
type untilWritten struct{ cancel func() }

func (w *untilWritten) Write(p []byte) (int, error) {
	w.cancel()
	return len(p), nil
}

// expand is what a shell makes of a word: quotes go, a pattern becomes what it matches.
func expand(t *testing.T, word string) []string {
	t.Helper()
	if bare := strings.Trim(word, "'"); bare != word {
		return []string{bare}
	}
	if !strings.Contains(word, "*") {
		return []string{word}
	}
	found, err := filepath.Glob(word)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", word, found, err)
	}
	return found
}

// readmeFiles writes the files that the README's commands read, and returns what a pipe has.
func readmeFiles(t *testing.T) []byte {
	t.Helper()
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packed := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	const text = "the river rose two metres on Sunday night and flooded the lower town, and nobody was hurt, the mayor said"
	lines := ""
	for i := range 8 {
		lines += fmt.Sprintf(`{"id": "%d", "date": "2024-01-0%d", "text": "%s in his speech number %d of the year"}`+"\n", i, i+1, text, i)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write("crawl.jsonl.zst", z.EncodeAll([]byte(lines), nil))
	write("a.jsonl.gz", packed(lines))
	write("b.jsonl.gz", packed(lines))
	write("docs.jsonl", []byte(lines))
	write("new.jsonl", []byte(lines))
	write("pairs.tsv", []byte("id_a\tid_b\tlabel\n0\t1\tduplicate\n2\t3\tduplicate\n"))
	page := "<html><body><p>" + text + "</p></body></html>"
	write("old.html", []byte(page))
	write("new.html", []byte(strings.Replace(page, "two", "three", 1)))
	write("c.warc.gz", packed(fmt.Sprintf("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a/\r\nWARC-Date: 2024-01-02T03:04:05Z\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(text), text)))
	base, queries := sets.Planted(2000, 100)
	write("F.bin", store.Bytes64(base))
	write("Q.bin", store.Bytes64(queries))
	return store.Bytes64(base)
}
