package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
)

// ingestFormats fingerprints the same texts from files of each format, and from memory. All formats
// must give the fingerprints that the texts give.
func ingestFormats(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"MB/s of text, 1 thread", "all threads", "reading alone, 1 thread",
		"reading alone, all threads", "times reading alone", "MB of file"}
	for _, language := range []struct {
		name   string
		corpus *corpus
	}{{"English", newEnglish(1)}, {"Chinese", newChinese(1)}} {
		texts, size := language.corpus.texts(b.n/1000, 4000)
		mb := float64(size) / 1e6
		want, took, err := b.sketch(ctx, texts)
		if err != nil {
			return err
		}
		r.row(language.name+" texts in memory", took.rate(mb), "-", "-", "-", "-", mb)
		for _, f := range formats {
			if language.name != "English" && f.name != "jsonl" {
				continue
			}
			b.say("%s, %s", language.name, f.name)
			path := filepath.Join(b.dir, "corpus."+f.name)
			cells, err := b.ingestFile(ctx, path, f.write, texts, want, mb)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			r.row(language.name+", "+f.name, cells...)
		}
	}
	r.note("%d texts of invented words, about 4 KB each; default recipe", b.n/1000)
	r.note("times reading alone: the time of reading and fingerprinting over that of reading, both on all threads")
	r.note("verified: every format gives the fingerprints of the texts; reading alone: to texts, without fingerprints")
	return nil
}

// sketch returns the fingerprints of texts, and the time to make them on one thread.
func (b *bench) sketch(ctx context.Context, texts []string) (want []simhash.Fingerprint, took Cell, err error) {
	printer, err := simhash.New(simhash.Default())
	if err != nil {
		return nil, Cell{}, err
	}
	took, err = b.repeat(func() error {
		want = want[:0]
		for _, t := range texts {
			f, _, _ := printer.Fingerprint(t)
			want = append(want, f)
		}
		return ctx.Err()
	})
	return want, took, err
}

// ingestFile writes texts to a file and fingerprints its documents, which must have the
// fingerprints want in this order.
func (b *bench) ingestFile(ctx context.Context, path string, write func(io.Writer, []string) error, texts []string,
	want []simhash.Fingerprint, mb float64) ([]any, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := closing(f, write(f, texts)); err != nil {
		return nil, err
	}
	whole, err := b.byThreads(func(threads int) error {
		got, err := printsOf(ctx, path, threads)
		if err == nil && !slices.Equal(got, want) {
			err = errors.New("not the fingerprints of the texts")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	alone, err := b.byThreads(func(threads int) error { return readAlone(ctx, threads, path) })
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return []any{whole[0].rate(mb), whole[1].rate(mb), alone[0].rate(mb), alone[1].rate(mb),
		whole[1].scale(1 / alone[1].Value), float64(info.Size()) / 1e6}, nil
}

// printsOf returns the fingerprints of the documents in an input.
func printsOf(ctx context.Context, input string, threads int) (prints []simhash.Fingerprint, err error) {
	_, err = ingest.Run(ctx, []string{input}, ingest.Config{Recipe: simhash.Default(), Threads: threads},
		func(d ingest.Record) error {
			prints = append(prints, d.Fingerprint)
			return nil
		})
	return prints, err
}

// readAlone reads inputs to texts and does nothing with them.
func readAlone(ctx context.Context, threads int, inputs ...string) error {
	_, err := ingest.Extract(ctx, inputs, ingest.Config{Recipe: simhash.Default(), Threads: threads},
		ingest.Steps[struct{}]{
			Worker: func() (func(int, *document.Document) (struct{}, error), error) {
				return func(int, *document.Document) (struct{}, error) { return struct{}{}, nil }, nil
			},
			Borrows: true,
		})
	return err
}

// parquetRows is the rows of a row group, of several in a file: those of one are read by one goroutine.
const parquetRows = 10_000

// formats are the files that texts are written to.
var formats = []struct {
	name  string
	write func(io.Writer, []string) error
}{
	{"jsonl", writeJSONL},
	{"jsonl.gz", func(w io.Writer, texts []string) error {
		z := gzip.NewWriter(w)
		return closing(z, writeJSONL(z, texts))
	}},
	{"jsonl.zst", func(w io.Writer, texts []string) error {
		z, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		return closing(z, writeJSONL(z, texts))
	}},
	{"csv", func(w io.Writer, texts []string) error {
		c := csv.NewWriter(w)
		c.Write([]string{"id", "text"})
		for i, t := range texts {
			c.Write([]string{strconv.Itoa(i), t})
		}
		c.Flush()
		return c.Error()
	}},
	{"parquet", func(w io.Writer, texts []string) error {
		type row struct {
			ID   string `parquet:"id"`
			Text string `parquet:"text,zstd"`
		}
		p := parquet.NewGenericWriter[row](w, parquet.MaxRowsPerRowGroup(parquetRows))
		for i, t := range texts {
			if _, err := p.Write([]row{{strconv.Itoa(i), t}}); err != nil {
				return err
			}
		}
		return p.Close()
	}},
	{"warc.gz", writeWARC},
}

func writeJSONL(w io.Writer, texts []string) error {
	e := json.NewEncoder(w)
	for i, t := range texts {
		if err := e.Encode(struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		}{strconv.Itoa(i), t}); err != nil {
			return err
		}
	}
	return nil
}

// writeWARC writes conversion records, as of a WET file, each a gzip member of its own.
func writeWARC(w io.Writer, texts []string) error {
	for i, t := range texts {
		z := gzip.NewWriter(w)
		_, err := fmt.Fprintf(z, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: "+
			"<urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: "+
			"http://example.com/%d\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, len(t), t)
		if err = closing(z, err); err != nil {
			return err
		}
	}
	return nil
}

// closing closes c, and returns the first error.
func closing(c io.Closer, err error) error { return cmp.Or(err, c.Close()) }
