package copies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/result"
)

// findCopies finds pairs among the documents of the inputs, or of these with the documents of signature files.
func findCopies(ctx context.Context, g *cli.Files, inputs []string, f *copiesFlags) error {
	// Open the signature files, and complete the options.
	known, err := openLibrary(ctx, g, f.against)
	if err != nil {
		return err
	}
	defer known.close()
	s, err := newSignRun(g, &f.signatures, known.files)
	if err != nil {
		return err
	}
	if err := f.join(g, &s.options); err != nil {
		return err
	}
	if err := s.limitMemory(); err != nil {
		return err
	}
	// Add the documents of the signature files.
	var bar *cli.Bar // starts after the documents are read
	s.options.Join.Progress = func(done, total uint64) { bar.SetOf(done, total) }
	d := copies.NewDetector(s.options)
	defer d.Close()
	if err := known.addTo(d); err != nil {
		return err
	}
	// Sign the documents of the inputs.
	table := pairTable{library: known}
	started := time.Now()
	partly := s.run(ctx, inputs, "comparing", known.documents(), func(id string, sets copies.Sets) error {
		d.Add(sets)
		table.ids = append(table.ids, id)
		return nil
	})
	if failed(partly) {
		return partly
	}
	// Find the pairs.
	read := time.Now()
	bar = g.Progress.NewBar("comparing", 0, cli.CountUnit)
	pairs, report, err := d.Pairs(ctx)
	bar.End()
	if _, tooMany := errors.AsType[*postings.TooManyPairsError](err); tooMany {
		return fmt.Errorf("%w: a higher --threshold finds fewer, and --memory allows more", err)
	}
	if err != nil {
		return err
	}
	// Write the table, and report.
	compared := time.Now()
	if err := g.WriteTable(f.out, f.format.Format, copies.Columns, func(t *result.TableWriter) error {
		return table.write(t, pairs)
	}); err != nil {
		return err
	}
	s.report(&report, &table, f.against)
	g.Log.Debug(fmt.Sprintf("read and signed in %.3g s; %s, %s compared in %.3g s; written in %.3g s",
		read.Sub(started).Seconds(), cli.Number(report.Slices, "slice"), cli.Number(report.Candidates, "candidate pair"),
		compared.Sub(read).Seconds(), time.Since(compared).Seconds()))
	return partly
}

// report logs the counts of a comparison, and warns of documents and pairs that are not in the table.
func (s *signRun) report(r *copies.Report, table *pairTable, libraries []string) {
	log, among := s.g.Log, ""
	if len(libraries) > 0 {
		among = fmt.Sprintf(" with %s in %s", cli.Number(table.library.documents(), "document"), strings.Join(libraries, ", "))
	}
	log.Info(fmt.Sprintf("%s among %s%s", cli.Number(r.Pairs, "pair"), cli.Number(len(table.ids), "document"), among))
	s.warnNone(r.None)
	cli.LogCount(log.Info, r.Fallback, "short document", ": compared with long ones by winnow, with each other by shingles")
	cli.LogCount(log.Info, r.Unlisted, "document", " with the same signatures as more than "+
		humanize.Comma(postings.MaxEqual)+" others: listed with the first of these only")
	cli.LogCount(log.Warn, r.Frequent, "document", ": pairs that share only signatures "+
		"of fewer than min-df or more than max-df documents are not listed")
	cli.LogCount(log.Warn, countRepeated(table.ids), "document", " with an ID that an earlier one has: lines of the output do not "+
		"tell them apart; --id names another field")
	cli.LogCount(log.Info, table.omitted, "pair", " of documents with the same ID left out")
}

// A pairTable writes pairs with the IDs of their documents.
type pairTable struct {
	library *library
	ids     []string // IDs of the compared documents
	omitted int      // number of pairs of documents with the same ID
}

// write writes the pairs in order of the compared documents. The first document of a pair is one of them.
func (p *pairTable) write(t *result.TableWriter, pairs []copies.Pair) (err error) {
	first := p.library.documents()
	if len(p.library.files) > 0 {
		for i := range pairs {
			pairs[i] = pairs[i].Swapped()
		}
		slices.SortFunc(pairs, func(a, b copies.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	}
	for i := range pairs {
		a, b := p.ids[uint64(pairs[i].A)-first], ""
		if doc := uint64(pairs[i].B); doc >= first {
			b = p.ids[doc-first]
		} else if b, err = p.library.id(doc); err != nil {
			return err
		}
		if a == b {
			p.omitted++
		} else if err := pairs[i].Write(t, a, b); err != nil {
			return err
		}
	}
	return nil
}

// countRepeated returns the number of documents with the ID of an earlier one.
func countRepeated(ids []string) (n int) {
	hashes := make([]uint64, len(ids))
	for i, id := range ids {
		hashes[i] = xxhash.Sum64String(id)
	}
	slices.Sort(hashes)
	return len(ids) - len(slices.Compact(hashes))
}
