package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/ingest"
	"ndd/engine/near/dedup"
)

// kept finds the duplicates of a file of JSON lines that zstd compresses, a third of which are copies, and writes it without them; beside
// that, it reads the file and writes it back. So long a file as is asked for: 4 KB for each thousand fingerprints.
func kept(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("kept")
	if err != nil {
		return err
	}
	defer remove()
	path := filepath.Join(dir, "in.jsonl.zst")
	texts, size, err := writeDuplicates(ctx, path, b.n/1000)
	if err != nil {
		return err
	}
	b.say("%d texts, %.2f GB", texts, float64(size)/1e9)
	back, err := rounds(b.rounds, func() error { return writeBack(ctx, path, filepath.Join(dir, "back.zst")) })
	if err != nil {
		return err
	}
	before := peakBytes()
	left := 0
	took, err := rounds(b.rounds, func() (err error) { left, err = writeKept(ctx, path, filepath.Join(dir, "kept.zst")); return err })
	if err != nil {
		return err
	}
	if n, err := countLines(filepath.Join(dir, "kept.zst")); err != nil {
		return err
	} else if n != left {
		return fmt.Errorf("%d texts were written, want the %d that are kept", n, left)
	}
	// Different texts of the same words are within 3 bits by chance: a few of the 10^11 pairs of half a million texts.
	different := texts - texts/3
	if left > different || different-left > max(2, different/10_000) {
		return fmt.Errorf("%d texts are kept, want %d or a few less", left, different)
	}
	r.Columns = []string{"seconds", "MB/s of text", "times reading and writing back", "MB of memory beyond what was taken before"}
	mb := float64(size) / 1e6
	r.row("read and write back", back, back.rate(mb), number(1), word("-"))
	r.row("duplicates found, kept texts written", took, took.rate(mb), took.scale(1/back.Value), number(float64(peakBytes()-before)/1e6))
	r.note("%d texts of invented words, %.0f MB of JSON lines in zstd at level 3; each third text is the one before it again", texts, mb)
	r.note("verified: so many texts are kept as there are different ones, less %d of %d that are within 3 bits of another by chance, and so many lines were written", different-left, different)
	return nil
}

// writeDuplicates writes texts of which each third is a copy, and returns how many, and their bytes as JSON lines.
func writeDuplicates(ctx context.Context, path string, texts int) (n int, size int64, err error) {
	corpus := newEnglish(3)
	err = write(path, func(w io.Writer, _ []string) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault))
		if err != nil {
			return err
		}
		counted := &countingWriter{w: z}
		e := json.NewEncoder(counted)
		text := ""
		for n = 0; n < texts && ctx.Err() == nil; n++ {
			if n%3 != 2 {
				text = corpus.text(n, 4000)
			}
			if err := e.Encode(map[string]string{"id": strconv.Itoa(n), "text": text}); err != nil {
				return err
			}
		}
		size = counted.n
		return closing(z, ctx.Err())
	}, nil)
	return n, size, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// writeBack decompresses a file and compresses it again.
func writeBack(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := zstd.NewReader(in)
	if err != nil {
		return err
	}
	defer r.Close()
	return write(to, func(w io.Writer, _ []string) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault))
		if err != nil {
			return err
		}
		_, err = io.CopyBuffer(z, r, make([]byte, 1<<20))
		return closing(z, err)
	}, nil)
}

// countLines returns how many lines a compressed file has.
func countLines(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := zstd.NewReader(f)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for part := make([]byte, 1<<20); ; {
		k, err := r.Read(part)
		n += bytes.Count(part[:k], []byte{'\n'})
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// writeKept does what 'ndd dedup --write-kept' does, and returns how many documents are kept.
func writeKept(ctx context.Context, from, to string) (int, error) {
	inputs := []string{from}
	corpus, _, err := dedup.ReadDocuments(ctx, inputs, ingest.Config{}, dedup.ReadOptions{})
	if err != nil {
		return 0, err
	}
	defer corpus.Close()
	found, err := dedup.Find(ctx, corpus, dedup.Options{K: 3})
	if err != nil {
		return 0, err
	}
	left := corpus.Len()
	for cluster := range found.Clusters() {
		left -= len(cluster.Rows) - 1
	}
	names, err := dedup.NewCopies(ctx, inputs, filepath.Dir(to))
	if err != nil {
		return 0, err
	}
	_, err = found.Copy(ctx, names, dedup.CopyOptions{}, func(_ string, fill func(io.Writer) error) error {
		return write(to, func(w io.Writer, _ []string) error {
			buffered := bufio.NewWriterSize(w, 1<<18)
			if err := fill(buffered); err != nil {
				return err
			}
			return buffered.Flush()
		}, nil)
	})
	return left, err
}
