package dedup

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strconv"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
)

// A Corpus has documents by row, from 0. It may be read by many goroutines once it is read whole.
type Corpus struct {
	recipe  *simhash.Recipe // nil for raw fingerprints
	prints  column[uint64]  // of documents that were appended
	mapped  cluster.Prints  // of fingerprint files, which are open, instead
	files   []*ndf.File
	lengths column[uint32] // of texts, where the policy goes by them; empty for raw fingerprints
	values  []values       // by which to keep, one for each policy that goes by one
	texts   []string       // of the values of the document being appended that are strings
	rows    rowFile        // IDs and places; no records where the rows are the IDs
	parts   []part         // of fingerprint files, one after the other
	sources sources
	hashes  column[[2]uint64] // of texts, or none; texts are equal if these are
	urls    column[[2]uint64] // hashes of URLs, 0 for none, or none
	from    origin            // of documents

	o        ReadOptions
	reserved *memory.Reservation // of o.Budget, for everything
	spilled  bool                // what grows with the rows is in temporary files
	results  memory.Arena        // of clusters
	held     bool                // the fingerprints are in memory
	next     int                 // the length at which it is looked at again
}

// A part is the rows of one fingerprint file.
type part struct {
	first Row
	file  string
}

// NewCorpus returns an empty corpus of documents with fingerprints of one recipe,
// nil if that is unknown.
func NewCorpus(recipe *simhash.Recipe, o ReadOptions) *Corpus {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	c := &Corpus{recipe: recipe, rows: rowFile{disk: o.Disk, dir: o.TempDir}, o: o, held: true, next: checkFirst,
		sources: sources{Sources: o.Source, used: make([]bool, len(o.Source.Protect))}}
	for i, by := range o.Keep.byValue() {
		c.values = append(c.values, values{by: by, text: func(row int) string { return c.rows.record(Row(row)).value(i) }})
	}
	return c
}

// Close releases the memory reserved from the budget, and the temporary file. The corpus must not be
// used afterwards. It may be called again, and on nil.
func (c *Corpus) Close() {
	if c != nil {
		c.reserved.Release()
		c.rows.close() // what is lost is temporary
		c.results.Free()
		c.prints.close()
		c.lengths.close()
		c.sources.of.close()
		c.hashes.close()
		c.urls.close()
		for i := range c.values {
			c.values[i].keys.close()
		}
		for _, f := range c.files {
			f.Close()
		}
		c.files = nil
	}
}

// Err returns the first error of [Corpus.ID], [Corpus.Place] and [Result.Kept], which read a temporary
// file. What they return after it is empty.
func (c *Corpus) Err() error {
	if err := c.rows.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// A Document is one to be compared.
type Document struct {
	ID          string
	Fingerprint simhash.Fingerprint
	Hash        [2]uint64        // of its text, of all documents of a corpus or of none
	TextBytes   int              // length of its text
	Values      []document.Value // of the fields that the policies go by, in order
	Modified    int64            // of its file, nanoseconds since 1970; 0 if unknown
	Place       Place            // where it was read, of all documents of a corpus or of none
}

// Append adds a document. The error is a [memory.TooLargeError] or a [spill.Error].
func (c *Corpus) Append(d Document) error {
	if err := c.sources.append(d.Place, valueAt(d.Values, len(c.values)), Row(c.Len()), false); err != nil {
		return err
	}
	if err := c.appendHashes(&d); err != nil {
		return err
	}
	length := lengthOf(d.TextBytes)
	err := c.prints.append(uint64(d.Fingerprint))
	if c.o.Keep.byLength() {
		err = cmp.Or(err, c.lengths.append(length))
	}
	texts := c.texts[:0]
	for i := range c.values {
		text, failed := c.values[i].append(valueAt(d.Values, i), d.Modified)
		texts, err = append(texts, text), cmp.Or(err, failed)
	}
	if c.texts = texts; err != nil {
		return err
	}
	return c.appendRecord(record{id: d.ID, place: d.Place, length: length, values: texts})
}

// appendShort adds a document that is too short for a fingerprint.
func (c *Corpus) appendShort(id string, textBytes int, at Place, values []document.Value) error {
	if err := c.sources.append(at, valueAt(values, len(c.values)), 0, true); err != nil {
		return err
	}
	return c.appendRecord(record{id: id, place: at, length: lengthOf(textBytes), short: true})
}

// appendRecord adds a record, and reserves memory where there are many more than before.
func (c *Corpus) appendRecord(r record) error {
	if err := c.rows.append(r); err != nil {
		return err
	}
	return c.grown()
}

// lengthOf returns the length of a text as a corpus has it.
func lengthOf(bytes int) uint32 { return uint32(min(uint64(bytes), math.MaxUint32)) }

// Len returns the number of documents.
func (c *Corpus) Len() int { return c.prints.len() + c.mapped.Len() }

// print returns the fingerprint of a row.
func (c *Corpus) print(row Row) uint64 {
	if len(c.prints.all) > 0 {
		return c.prints.all[row]
	}
	return c.mapped.At(row)
}

// all returns all fingerprints.
func (c *Corpus) all() cluster.Prints {
	if len(c.prints.all) > 0 {
		return cluster.NewPrints(c.prints.all)
	}
	return c.mapped
}

// Recipe returns the recipe of the fingerprints, nil if that is unknown.
func (c *Corpus) Recipe() *simhash.Recipe { return c.recipe }

// ID returns the ID of a row.
func (c *Corpus) ID(row Row) string {
	if len(c.rows.blocks) == 0 {
		return strconv.FormatUint(uint64(row), 10)
	}
	return c.rows.record(row).id
}

// Place returns where the document of a row was read; nothing for one that came by [Corpus.Append]
// without a place.
func (c *Corpus) Place(row Row) Place {
	if len(c.parts) == 0 {
		return c.rows.record(row).place
	}
	i, found := slices.BinarySearchFunc(c.parts, row, func(p part, row Row) int { return cmp.Compare(p.first, row) })
	if !found {
		i--
	}
	return Place{c.parts[i].file, int64(row-c.parts[i].first) + 1}
}

// NumShort returns the number of documents that are too short for a fingerprint: they are compared
// with none, and kept.
func (c *Corpus) NumShort() int { return c.rows.shorts }
