package mapreduce

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
)

// A Fingerprint is the job that turns documents into fingerprints. It has no reduce.
//
//	in    a JSON object a line, or names of files of any format
//	out   fingerprint (16 hexadecimal digits, or dashes)	ID, bytes of text
type Fingerprint struct {
	Document document.Options // format and fields
	Recipe   simhash.Recipe
}

func (j Fingerprint) mapPart(ctx context.Context, t *task) error {
	if err := onePrint(&j.Recipe); err != nil {
		return err
	}
	t.results.parts, t.results.recipe = 1, recipeName(&j.Recipe)
	d := documents{options: j.Document, recipe: j.Recipe}
	var key, value []byte
	return d.each(ctx, t, func(r *ingest.Record) error {
		key = append(key[:0], unmarkedKey...)
		if r.OK {
			key = append(key[:0], r.Fingerprint.String()...)
			t.counters.add(fingerprints, 1)
		} else {
			t.counters.add(unmarked, 1)
		}
		value = strconv.AppendInt(append(appendEscaped(value[:0], r.ID), ' '), int64(r.TextBytes), 10)
		return t.result(key, value)
	})
}

// documents reads the documents of a map's input.
type documents struct {
	options document.Options
	recipe  simhash.Recipe
}

// each calls emit with a record of each document, in order.
func (d *documents) each(ctx context.Context, t *task, emit func(*ingest.Record) error) error {
	return readDocuments(ctx, t, d.options, func(inputs []string, o document.Options, stdin io.Reader, name func(string) (string, error)) error {
		c := ingest.Config{Document: o, Recipe: d.recipe, Threads: t.Threads, Stdin: stdin, Budget: documentBudget}
		reserved, err := t.reserve("reading documents", c.NeedBytes())
		if err != nil {
			return err
		}
		defer reserved.Release()
		report, err := ingest.Run(ctx, inputs, c, func(r ingest.Record) error {
			id, err := name(r.ID)
			if err != nil {
				return t.bad(1, fmt.Sprintf("document %s", r.ID), err)
			}
			r.ID = id
			return emit(&r)
		})
		if err != nil {
			return err
		}
		return t.ingested(&report)
	})
}

// documentBudget is what is read ahead of documents.
const documentBudget = 64 << 20

// ingested counts what was read, and what was left out.
func (t *task) ingested(r *ingest.Report) error {
	t.counters.add(recordsIn, int64(r.Units))
	t.counters.add(bytesIn, r.BytesRead)
	t.counters.add(repaired, int64(r.Repaired))
	t.counters.add(unknownCharset, int64(r.Unknown))
	lost := r.Skipped.Lost()
	if lost == 0 {
		return nil
	}
	for _, s := range r.Skipped.Examples {
		if err := t.bad(1, fmt.Sprintf("document %d of the part", s.Line), s); err != nil {
			return err
		}
	}
	if more := lost - len(r.Skipped.Examples); more > 0 {
		return t.bad(int64(more), "and others", r.Skipped.Examples[len(r.Skipped.Examples)-1])
	}
	return nil
}

// readDocuments calls read with the inputs of a map that reads documents: standard input, whose lines are JSON objects, or
// each file that it names. name returns the ID of a document, given what a reader of that input calls it.
func readDocuments(ctx context.Context, t *task, o document.Options,
	read func(inputs []string, o document.Options, stdin io.Reader, name func(string) (string, error)) error) error {
	if t.Form == Lines || t.Form == "" {
		if o.Format == "" || o.Format == document.Auto {
			o.Format = document.JSONL
		}
		return read([]string{document.Stdin}, o, document.Patient(ctx, t.In), ownID)
	}
	if t.Form != Paths {
		return fmt.Errorf("documents come as %s or %s, not as %s", Lines, Paths, t.Form)
	}
	return t.paths(ctx, func(p inputPath) error {
		file := p.name
		if !isRemote(file) {
			return read([]string{file}, o, nil, func(id string) (string, error) { return id, nil })
		}
		body, _, err := t.openRemote(ctx, file)
		if err != nil {
			return err
		}
		defer body.Close()
		of := o // this file's
		if of.Format == "" || of.Format == document.Auto {
			of.Format = document.FormatByName(file)
		}
		return read([]string{document.Stdin}, of, body, func(id string) (string, error) {
			if id == document.Stdin {
				return file, nil
			}
			if strings.HasPrefix(id, document.Stdin+":") {
				return file + id[len(document.Stdin):], nil
			}
			return id, nil
		})
	})
}

// ownID returns the ID that a document has, and an error where a reader made one of the number of its line, which
// says nothing in a part.
func ownID(id string) (string, error) {
	if id == document.Stdin || strings.HasPrefix(id, document.Stdin+":") {
		return "", fmt.Errorf("it has no ID")
	}
	return id, nil
}
