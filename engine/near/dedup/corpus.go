package dedup

import (
	"cmp"
	"context"
	"math"
	"runtime"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/storage/spill"
)

// A Corpus holds documents by row, from 0. All data that grows with their number is in temporary files. These are
// mapped after all rows are appended. Then many goroutines may read the corpus.
type Corpus struct {
	Inputs []Input // files that the documents were read from, in order of the rows; nil if they are unknown

	rows
	recipe  *simhash.Recipe // nil for raw fingerprints
	values  []keep.Column   // one column for each policy of the order that needs one
	fields  []int           // for each column, the number of the list of fields that has its value, or -1
	lists   int             // number of these lists; the lists for the source and the URL follow
	urls    spill.Column[[2]uint64]
	sources source.Table
	from    origin

	isHashed bool // some documents have hashes; the others have zero hashes

	o       ReadOptions
	room    room
	columns []column // all columns of the corpus
}

// An Input is a file of documents.
type Input struct {
	File  string
	Bytes int64 // size of the file; -1 if it is unknown

	Content format.Checksum // checksum of its units; 0 if it is unknown
}

// A column is a [spill.Column].
type column interface {
	End() error
	Close() error
}

// columnBytes is the memory of a column. A larger column is in a temporary file.
const columnBytes = 256 << 10

// newColumn returns an empty column.
func newColumn[T spill.Number](o *ReadOptions, content string) spill.Column[T] {
	return spill.NewColumn[T](o.Disk, o.TempDir, content, cmp.Or(o.columnBytes, columnBytes))
}

// NewCorpus returns an empty corpus. All fingerprints must have the given recipe, which is nil if it is unknown.
func NewCorpus(recipe *simhash.Recipe, o ReadOptions) *Corpus {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	// Make the columns that every corpus has.
	c := &Corpus{recipe: recipe, o: o, urls: newColumn[[2]uint64](&o, "URLs"),
		rows: rows{fingerprints: newColumn[uint64](&o, "fingerprints"), hashes: newColumn[[2]uint64](&o, "hashes"),
			words:   newColumn[uint64](&o, "sketches"),
			records: records{text: newColumn[byte](&o, "ids"), offsets: newColumn[uint64](&o, "rows")}},
		sources: source.NewTable(o.Source, newColumn[uint16](&o, "sources")),
		from:    origin{units: newColumn[uint64](&o, "units")}}
	c.from.rows, c.from.o, c.room.o = &c.rows, &c.o, &c.o
	c.room.results = c.room.arena()
	// Add a column for each policy that compares values.
	for _, by := range o.Keep {
		if by.Policy == keep.First || by.Policy == keep.Source {
			continue
		}
		i, field := len(c.values), -1
		if by.Fields() != nil {
			field = c.lists
			c.lists++
		}
		c.fields = append(c.fields, field)
		c.values = append(c.values, keep.Column{Missing: keep.Missing{By: by}, Keys: newColumn[uint64](&o, "values"),
			Text: func(row int) string {
				if values := c.records.record(Row(row)).values; i < len(values) {
					return values[i]
				}
				return ""
			}})
	}
	// List all columns, so that end and Close miss none.
	c.columns = []column{&c.fingerprints, &c.records.text, &c.records.offsets, &c.hashes, &c.words, &c.urls, &c.sources.Rows, &c.from.units}
	for i := range c.values {
		c.columns = append(c.columns, &c.values[i].Keys)
	}
	return c
}

// end makes all rows readable. It may be called several times.
func (c *Corpus) end() error {
	for _, column := range c.columns {
		if err := column.End(); err != nil {
			return err
		}
	}
	return c.records.end()
}

// Close releases the memory reserved from the budget, and the temporary files. The corpus must not be used afterwards.
// Close may be called several times, and on nil.
func (c *Corpus) Close() {
	if c == nil {
		return
	}
	c.room.free()
	for _, column := range c.columns {
		column.Close() // the files are temporary
	}
}

// A Document is a document to compare.
type Document struct {
	ID          string
	Fingerprint simhash.Fingerprint
	Hash        [2]uint64      // hash of the text; all appended documents have one, or none has
	TextBytes   int            // length of the text
	Values      []format.Value // values for the order of preference, the source and the URL
	Modified    int64          // modification time of its file, in nanoseconds since 1970; 0 if unknown
	Place       Place          // all documents of a corpus have one, or none has
	Short       bool           // it is too short for a fingerprint
	Sketch      sketch.Sketch  // stored only with ReadOptions.Sketches; zero if there is none
}

// Append adds a document. It returns an error of the sources, or a [spill.Error].
func (c *Corpus) Append(d Document) error {
	// Find the source first, because its error leaves the corpus unchanged.
	row := c.Len()
	sourceValue := ""
	if c.o.Source.Field != "" {
		sourceValue = valueAt(d.Values, c.lists).Text
	}
	if err := c.sources.Append(row, d.Place.File, d.Place.Row == 0, sourceValue); err != nil {
		return err
	}
	// Add the document to the columns that the options require.
	r := record{id: d.ID, place: d.Place, length: lengthOf(d.TextBytes)}
	if d.Short {
		c.short.Add(row)
		c.shorts++
		d.Fingerprint = 0 // it is not compared with other documents
	}
	err := c.fingerprints.Append(uint64(d.Fingerprint))
	if c.isHashed || d.Hash != [2]uint64{} {
		err = cmp.Or(err, c.hashes.Append(d.Hash))
	}
	if c.o.Sketches {
		err = cmp.Or(err, c.words.AppendAll(d.Sketch[:]))
	}
	if len(c.o.SameURL) > 0 {
		url := ""
		if !d.Short {
			url = valueAt(d.Values, len(d.Values)-1).Text
		}
		err = cmp.Or(err, c.urls.Append(hashURL(url)))
	}
	// Add the values for the order of preference.
	for i := range c.values {
		text, failed := c.values[i].Append(valueAt(d.Values, c.fields[i]), r.length, d.Modified)
		r.values, err = append(r.values, text), cmp.Or(err, failed)
	}
	return cmp.Or(err, c.records.append(r))
}

// lengthOf returns the length of a text as the corpus stores it, at most 4 GiB - 1.
func lengthOf(bytes int) uint32 { return uint32(min(uint64(bytes), math.MaxUint32)) }

// valueAt returns the value for list i of fields, or none if the document has no fields.
func valueAt(values []format.Value, i int) format.Value {
	if i >= 0 && i < len(values) {
		return values[i]
	}
	return format.Value{}
}

// HasSketches reports whether sketches can be compared.
func (c *Corpus) HasSketches() bool { return c.o.Sketches }

// Recipe returns the recipe of the fingerprints, nil if that is unknown.
func (c *Corpus) Recipe() *simhash.Recipe { return c.recipe }

// Texts reads all inputs again and returns the texts of some rows. It holds these texts in memory.
func (c *Corpus) Texts(ctx context.Context, rows []Row) (map[Row]string, error) {
	return c.from.texts(ctx, rows)
}

// Missing returns the policies that need a value which some documents do not have. Documents without it rank last.
func (c *Corpus) Missing() (list []keep.Missing) {
	for i := range c.values {
		if m := c.values[i].Missing; m.Documents > 0 && m.Documents < c.Len() {
			list = append(list, m)
		}
	}
	return list
}

// prefer returns the order of preference, nil for the order of the rows.
func (c *Corpus) prefer() (func(a, b int) int, error) {
	var orders []func(a, b int) int
	if c.Len() == 0 {
		return nil, nil
	}
	// Protected documents come before all others.
	if safe := c.sources.Protected(); len(safe) > 0 {
		orders = append(orders, func(a, b int) int { return cmp.Compare(safe.Bit(b), safe.Bit(a)) })
	}
	// Each policy decides between documents that all earlier ones rank equal.
	n := 0 // number of the next column
	for _, by := range c.o.Keep {
		switch by.Policy {
		case keep.First:
		case keep.Source:
			orders = append(orders, c.sources.Order())
		default:
			v := &c.values[n]
			n++
			if v.Keys.Len() != c.Len() {
				return nil, c.o.Keep.CheckPrints(by.Fields() != nil)
			}
			if v.Documents == c.Len() {
				return nil, by.NoValue()
			}
			orders = append(orders, func(a, b int) int { return v.Compare(b, a) })
		}
	}
	// Combine the orders.
	switch len(orders) {
	case 0:
		return nil, nil
	case 1:
		return orders[0], nil
	}
	return func(a, b int) int {
		for _, order := range orders {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return 0
	}, nil
}
