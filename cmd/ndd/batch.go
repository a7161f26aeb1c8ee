package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/ndf"
	"ndd/engine/oracle"
	"ndd/engine/simhash"
)

func newBatch(g *globals) *cobra.Command {
	var index indexFlags
	var out, format string
	var unique, count, checksum bool
	cmd := &cobra.Command{
		Use:   "batch -i INDEX [-k K] [-o OUT] Q.bin",
		Short: "Answer a file of queries",
		Long: `Answer all queries of a file, raw little-endian 64-bit integers or .ndf, on all
processors.

tsv: query row, fingerprint (hexadecimal), distance, id, one line a document,
in order of query row, then distance, then fingerprint, then the order of the
documents in the index. json: the same as an object a line. bin: the same as
records of four little-endian 64-bit integers, the last one the number of the
document.`,
		Example: `  ndd batch -i index -o hits.tsv Q.bin
  ndd batch -i index --count Q.bin`,
		Args: oneArg("Q.bin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := rowWriters[format]; !ok {
				return usagef("--format %q: must be tsv, json or bin", format)
			}
			q, err := ndf.Open(args[0])
			if err != nil {
				return err
			}
			defer q.Close()
			if s := q.Store(); s != nil {
				if err := s.Verify(cmd.Context(), g.threads, nil); err != nil {
					return err
				}
			}
			x, err := index.open(cmd, g)
			if err != nil {
				return err
			}
			defer x.Close()
			if a, b := x.Recipe(), q.Recipe(); a != nil && b != nil {
				if err := a.Check(*b); err != nil {
					return fmt.Errorf("%w: the index and %s: %w", engine.ErrMixed, args[0], err)
				}
			}
			b := &batch{g: g, index: x, k: index.k, unique: unique, checksum: checksum}
			if count {
				return b.run(cmd, q, func(int, *engine.Hit, engine.DocID) error { return nil })
			}
			o, err := g.newOutput(out)
			if err != nil {
				return err
			}
			defer o.abort()
			w := bufio.NewWriterSize(o, 1<<18)
			if err := b.run(cmd, q, rowWriters[format](w, x.Names())); err != nil {
				return err
			}
			if err := w.Flush(); err != nil {
				return err
			}
			return o.commit()
		},
	}
	index.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write the hits to this file, which appears when it is complete")
	f.StringVar(&format, "format", "tsv", "of the hits: tsv, json or bin")
	f.BoolVar(&unique, "unique", false, "one line a distinct fingerprint, with the id of its first document")
	f.BoolVar(&count, "count", false, "no hits, only their number, on standard error")
	f.BoolVar(&checksum, "checksum", false, "also a sum over all hits that does not depend on their order, on standard error")
	return cmd
}

// batch is one run over a file of queries.
type batch struct {
	g        *globals
	index    *engine.Index
	k        int
	unique   bool
	checksum bool
}

// run calls write for each line of the answer and reports the totals.
func (b *batch) run(cmd *cobra.Command, q *ndf.File, write func(query int, h *engine.Hit, doc engine.DocID) error) error {
	queries := q.Fingerprints()
	bar := b.g.newBar("answering", int64(len(queries)), countUnit)
	withHits, hits, sum := 0, 0, uint64(0)
	o := engine.BatchOptions{K: b.k, Docs: true, Threads: b.g.threads}
	err := b.index.Batch(cmd.Context(), queries, o, func(query int, list []engine.Hit) error {
		bar.set(int64(query))
		withHits++
		for i := range list {
			docs := list[i].Docs
			if b.unique {
				docs = docs[:1]
			}
			for _, doc := range docs {
				hits++
				sum += oracle.Term(query, uint64(list[i].Fingerprint))
				if err := write(query, &list[i], doc); err != nil {
					return err
				}
			}
		}
		return nil
	})
	bar.end()
	if err != nil {
		return err
	}
	if !b.g.quiet {
		fmt.Fprintf(b.g.stderr, "queries %d with-hits %d hits %d\n", len(queries), withHits, hits)
	}
	if b.checksum {
		fmt.Fprintf(b.g.stderr, "checksum %016x\n", sum)
	}
	return nil
}

// rowWriters write one line, or record, of a batch's answer.
var rowWriters = map[string]func(io.Writer, *engine.Names) func(int, *engine.Hit, engine.DocID) error{
	"tsv": func(w io.Writer, names *engine.Names) func(int, *engine.Hit, engine.DocID) error {
		var line []byte
		return func(query int, h *engine.Hit, doc engine.DocID) error {
			id, err := names.Name(doc)
			if err != nil {
				return err
			}
			line = strconv.AppendInt(line[:0], int64(query), 10)
			line = append(line, '\t')
			line = append(line, h.Fingerprint.String()...)
			line = append(line, '\t')
			line = strconv.AppendInt(line, int64(h.Distance), 10)
			line = append(line, '\t')
			line = append(line, plain(id)...)
			_, err = w.Write(append(line, '\n'))
			return err
		}
	},
	"json": func(w io.Writer, names *engine.Names) func(int, *engine.Hit, engine.DocID) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return func(query int, h *engine.Hit, doc engine.DocID) error {
			id, err := names.Name(doc)
			if err != nil {
				return err
			}
			return enc.Encode(struct {
				Query       int                 `json:"query"`
				Fingerprint simhash.Fingerprint `json:"fingerprint"`
				Distance    int                 `json:"distance"`
				ID          string              `json:"id"`
			}{query, h.Fingerprint, h.Distance, id})
		}
	},
	"bin": func(w io.Writer, _ *engine.Names) func(int, *engine.Hit, engine.DocID) error {
		var record [32]byte
		return func(query int, h *engine.Hit, doc engine.DocID) error {
			for i, v := range [4]uint64{uint64(query), uint64(h.Fingerprint), uint64(h.Distance), uint64(doc)} {
				binary.LittleEndian.PutUint64(record[8*i:], v)
			}
			_, err := w.Write(record[:])
			return err
		}
	},
}
