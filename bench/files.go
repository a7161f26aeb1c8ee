package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
)

// fingerprintsOf returns the fingerprints of the documents in an input.
func fingerprintsOf(ctx context.Context, input string, threads int) (fingerprints []simhash.Fingerprint, err error) {
	_, err = ingest.Run(ctx, []string{input}, ingest.Config{Recipe: simhash.Default(), Threads: threads},
		func(d ingest.Record) error {
			fingerprints = append(fingerprints, d.Fingerprint)
			return nil
		})
	return fingerprints, err
}

// parquetRows is the number of rows of a row group. One goroutine reads a row group, so a file has several.
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
