package dedup

import (
	"cmp"
	"math"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/spill"
)

// A Corpus has documents by row, from 0. What grows with their number is in temporary files, which are mapped
// when all are there. It may be read by many goroutines then.
type Corpus struct {
	recipe  *simhash.Recipe         // nil for raw fingerprints
	prints  spill.Column[uint64]    // or
	raw     rawPrints               // without IDs
	records records                 // IDs and places; none where the rows are the IDs
	values  []values                // by which to keep, one for each policy that goes by one
	hashes  spill.Column[[2]uint64] // of texts, or none; texts are equal if these are
	urls    spill.Column[[2]uint64] // hashes of URLs, 0 for none, or none
	sources sources
	short   bitmap // rows too short for a fingerprint
	shorts  int    // how many
	from    origin // of documents

	o        ReadOptions
	reserved *memory.Reservation // of o.Budget, for everything
	spilled  bool                // clusters are in temporary files, too
	results  memory.Arena        // of clusters
}

// Raw prints are fingerprint files without IDs, which are open.
type rawPrints struct {
	prints cluster.Prints
	files  []*ndf.File
	parts  []part // one after the other
}

// A part is the rows of one fingerprint file.
type part struct {
	first Row
	file  string
}

// columnBytes is how much of a column is in memory; more is in a temporary file.
const columnBytes = 256 << 10

// newColumn returns an empty column of some things.
func newColumn[T spill.Number](o *ReadOptions, what string) spill.Column[T] {
	return spill.NewColumn[T](o.Disk, o.TempDir, what, cmp.Or(o.columnBytes, columnBytes))
}

// NewCorpus returns an empty corpus of documents with fingerprints of one recipe,
// nil if that is unknown.
func NewCorpus(recipe *simhash.Recipe, o ReadOptions) *Corpus {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	c := &Corpus{recipe: recipe, o: o, prints: newColumn[uint64](&o, "fingerprints"),
		records: records{text: newColumn[byte](&o, "ids"), at: newColumn[uint64](&o, "rows")},
		hashes:  newColumn[[2]uint64](&o, "hashes"), urls: newColumn[[2]uint64](&o, "URLs"),
		sources: sources{Sources: o.Source, number: map[string]int32{}, used: make([]bool, len(o.Source.Protect)),
			of: newColumn[uint16](&o, "sources")},
		from: origin{units: newColumn[uint64](&o, "units")}}
	for _, by := range o.Keep {
		if by.Policy == First || by.Policy == Source {
			continue
		}
		v := values{by: by, at: -1, keys: newColumn[uint64](&o, "values")}
		i := len(c.values)
		v.text = func(row int) string {
			if values := c.records.of(Row(row)).values; i < len(values) {
				return values[i]
			}
			return ""
		}
		if by.fields() != nil {
			v.at = c.sources.at
			c.sources.at++ // behind all policies
		}
		c.values = append(c.values, v)
	}
	return c
}

// A column is a [spill.Column].
type column interface {
	End() error
	Close() error
}

func (c *Corpus) columns() []column {
	list := []column{&c.prints, &c.records.text, &c.records.at, &c.hashes, &c.urls, &c.sources.of, &c.from.units}
	for i := range c.values {
		list = append(list, &c.values[i].keys)
	}
	return list
}

// end makes all that was appended readable. It may be called again.
func (c *Corpus) end() error {
	for _, column := range c.columns() {
		if err := column.End(); err != nil {
			return err
		}
	}
	return c.records.end()
}

// Close releases the memory reserved from the budget, and the temporary files. The corpus must not be
// used afterwards. It may be called again, and on nil.
func (c *Corpus) Close() {
	if c == nil {
		return
	}
	c.reserved.Release()
	c.results.Free()
	for _, column := range c.columns() {
		column.Close() // what is lost is temporary
	}
	c.closeRaw()
}

// closeRaw closes the fingerprint files.
func (c *Corpus) closeRaw() {
	for _, f := range c.raw.files {
		f.Close()
	}
	c.raw.files = nil
}

// A Document is one to be compared.
type Document struct {
	ID          string
	Fingerprint simhash.Fingerprint
	Hash        [2]uint64      // of its text, of all documents of a corpus or of none
	TextBytes   int            // length of its text
	Values      []format.Value // of the fields that the policies go by, in order
	Modified    int64          // of its file, nanoseconds since 1970; 0 if unknown
	Place       Place          // where it was read, of all documents of a corpus or of none
	Short       bool           // it is too short for a fingerprint
}

// Append adds a document. The error is a [spill.Error].
func (c *Corpus) Append(d Document) error {
	row := c.Len()
	if err := c.sources.append(d.Place, d.Values, Row(row)); err != nil {
		return err
	}
	r := record{id: d.ID, place: d.Place, length: lengthOf(d.TextBytes)}
	if d.Short {
		c.short.set(row)
		c.shorts++
		d.Fingerprint = 0 // it is compared with none
	}
	err := c.prints.Append(uint64(d.Fingerprint))
	if d.Hash != [2]uint64{} {
		err = cmp.Or(err, c.hashes.Append(d.Hash))
	}
	if len(c.o.SameURL) > 0 {
		url := ""
		if !d.Short {
			url = valueAt(d.Values, len(d.Values)-1).Text
		}
		err = cmp.Or(err, c.urls.Append(hashURL(url)))
	}
	for i := range c.values {
		text, failed := c.values[i].append(valueAt(d.Values, c.values[i].at), r.length, d.Modified)
		r.values, err = append(r.values, text), cmp.Or(err, failed)
	}
	return cmp.Or(err, c.records.append(r))
}

// lengthOf returns the length of a text as a corpus has it.
func lengthOf(bytes int) uint32 { return uint32(min(uint64(bytes), math.MaxUint32)) }

// Len returns the number of documents.
func (c *Corpus) Len() int { return c.prints.Len() + c.raw.prints.Len() }

func (c *Corpus) print(row Row) uint64 {
	if len(c.prints.All) > 0 {
		return c.prints.All[row]
	}
	return c.raw.prints.At(row)
}

func (c *Corpus) all() cluster.Prints {
	if len(c.prints.All) > 0 {
		return cluster.NewPrints(c.prints.All)
	}
	return c.raw.prints
}

// Recipe returns the recipe of the fingerprints, nil if that is unknown.
func (c *Corpus) Recipe() *simhash.Recipe { return c.recipe }

// ID returns the ID of a row.
func (c *Corpus) ID(row Row) string {
	if c.raw.prints.Len() > 0 {
		return strconv.FormatUint(uint64(row), 10)
	}
	return strings.Clone(c.records.of(row).id)
}

// Place returns where the document of a row was read; nothing for one that came by [Corpus.Append]
// without a place.
func (c *Corpus) Place(row Row) Place {
	if len(c.raw.parts) == 0 {
		at := c.records.of(row).place
		return Place{strings.Clone(at.File), at.Row}
	}
	p := c.raw.parts[sort.Search(len(c.raw.parts), func(i int) bool { return c.raw.parts[i].first > row })-1]
	return Place{p.file, int64(row-p.first) + 1}
}

// NumShort returns the number of documents that are too short for a fingerprint: of equal ones one is kept,
// and they are compared with no others.
func (c *Corpus) NumShort() int { return c.shorts }
