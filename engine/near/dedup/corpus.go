package dedup

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// A Corpus has documents by row, from 0. It may be read by many goroutines once it is read whole.
type Corpus struct {
	recipe  *simhash.Recipe // nil for raw fingerprints
	prints  []uint64        // of documents that were appended
	mapped  cluster.Prints  // of fingerprint files, which are open, instead
	files   []*ndf.File
	lengths []uint32 // of texts, where the policy goes by them; empty for raw fingerprints
	values  []values // by which to keep, one for each policy that goes by one
	texts   []string // of the values of the document being appended that are strings
	rows    rowFile  // IDs and places; no records where the rows are the IDs
	parts   []part   // of fingerprint files, one after the other
	sources sources
	hashes  *spill.Run[[2]uint64] // of texts; nil: they are few, or there are none
	hash    [][2]uint64           // all of them, when all are there
	urls    *spill.Run[[2]uint64] // hashes of URLs, 0 for none; nil: of none
	withURL int
	unread  map[string][]int64 // rows of each file that were too long
	readers sync.Pool
	failed  atomic.Pointer[error]

	o        ReadOptions
	reserved *memory.Reservation // of o.Budget, for everything
	held     bool                // the fingerprints are in memory
	next     int                 // the length at which it is looked at again

	// Where the documents were read, to read them again.
	inputs     []string
	options    document.Options
	fileUnits  []int  // units of each file
	units      bitmap // which units of the inputs became rows
	rowsBefore []Row  // before each unitsEach units
}

// A part is the rows of one fingerprint file.
type part struct {
	first Row
	file  string
}

// ReadOptions configures how a corpus is read.
type ReadOptions struct {
	Keep    Keep
	Source  Sources
	SameURL []string       // fields, the first of which that a document has is its URL; documents with one go for one
	Find    Options        // with which Find will be called: memory depends on them
	Copies  bool           // the inputs will be copied: memory depends on it, too
	Budget  *memory.Budget // of which the memory is taken, until [Corpus.Close]; nil: no limit
	Threads int            // goroutines; 0 or less: as many as there are processors
	TempDir string         // of the file that IDs and places go to; default os.TempDir()
	Disk    *disk.Disk     // that it is on; default the system's

	// Open opens fingerprint files; nil is [ndf.Open].
	Open func(path string) (*ndf.File, error)

	// Say, if not nil, is called with the most memory that everything takes, which is [NeedBytes]:
	// for fingerprints before they are read; for documents before that, when their number is
	// unknown and 0, and before they are compared.
	Say func(documents int, bytes uint64)

	readingBytes uint64 // what reading documents takes
}

// fields returns the fields that documents are to be read with: a list for each policy that goes by
// values, that of the source, and that of the URL.
func (o *ReadOptions) fields() (lists [][]string) {
	for _, by := range o.Keep.byValue() {
		lists = append(lists, by.fields())
	}
	if o.Source.Field != "" {
		lists = append(lists, []string{o.Source.Field})
	}
	if len(o.SameURL) > 0 {
		lists = append(lists, o.SameURL)
	}
	return lists
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
		c.values = append(c.values, values{by: by, text: func(row int) string { return c.record(Row(row)).value(i) }})
	}
	return c
}

// Close releases the memory reserved from the budget, and the temporary file. The corpus must not be
// used afterwards. It may be called again, and on nil.
func (c *Corpus) Close() {
	if c != nil {
		c.reserved.Release()
		c.rows.close() // what is lost is temporary
		c.hashes.Close()
		c.urls.Close()
		c.hash, c.hashes, c.urls = nil, nil, nil
		for _, f := range c.files {
			f.Close()
		}
		c.files = nil
	}
}

// Err returns the first error of [Corpus.ID], [Corpus.Place] and [Result.Kept], which read a temporary
// file. What they return after it is empty.
func (c *Corpus) Err() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// reserve reserves the memory for a number of documents from the budget.
func (c *Corpus) reserve(what string, documents int) (err error) {
	bytes := c.needBytes(documents)
	if c.reserved == nil {
		c.reserved, err = c.o.Budget.Reserve(what, bytes)
		return err
	}
	return c.reserved.Resize(what, bytes)
}

// expect reserves and reports the memory for a number of documents; 0 is an unknown number.
func (c *Corpus) expect(documents int) error {
	if c.o.Say != nil {
		c.o.Say(documents, c.needBytes(documents))
	}
	what := fmt.Sprintf("comparing %d documents", documents)
	if documents == 0 {
		what = "reading"
	}
	return c.reserve(what, documents)
}

// checkFirst is the number of documents from which on memory is reserved anew, each time that
// there are twice as many.
const checkFirst = 1 << 18

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
	if err := cmp.Or(c.appendHash(d.Hash), c.appendURL(valueAt(d.Values, len(d.Values)-1).Text)); err != nil {
		return err
	}
	length := lengthOf(d.TextBytes)
	c.prints = append(c.prints, uint64(d.Fingerprint))
	if c.o.Keep.byLength() {
		c.lengths = append(c.lengths, length)
	}
	texts := c.texts[:0]
	for i := range c.values {
		texts = append(texts, c.values[i].append(valueAt(d.Values, i), d.Modified))
	}
	c.texts = texts
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

// grown reserves memory anew where there are twice as many documents as when that was done last.
func (c *Corpus) grown() error {
	if len(c.prints)+c.rows.shorts < c.next {
		return nil
	}
	c.next *= 2
	return c.reserve(fmt.Sprintf("comparing %d documents, and there are more,", len(c.prints)), len(c.prints))
}

// Len returns the number of documents.
func (c *Corpus) Len() int { return len(c.prints) + c.mapped.Len() }

// print returns the fingerprint of a row.
func (c *Corpus) print(row Row) uint64 {
	if len(c.prints) > 0 {
		return c.prints[row]
	}
	return c.mapped.At(row)
}

// all returns all fingerprints.
func (c *Corpus) all() cluster.Prints {
	if len(c.prints) > 0 {
		return cluster.NewPrints(c.prints)
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
	return c.record(row).id
}

// Place returns where the document of a row was read; nothing for one that came by [Corpus.Append]
// without a place.
func (c *Corpus) Place(row Row) Place {
	if len(c.parts) == 0 {
		return c.record(row).place
	}
	i, found := slices.BinarySearchFunc(c.parts, row, func(p part, row Row) int { return cmp.Compare(p.first, row) })
	if !found {
		i--
	}
	return Place{c.parts[i].file, int64(row-c.parts[i].first) + 1}
}

// record returns the record of a row, an empty one where it cannot be read.
func (c *Corpus) record(row Row) record {
	if len(c.rows.blocks) == 0 {
		return record{}
	}
	r, ok := c.readers.Get().(*rowReader)
	if !ok {
		r = &rowReader{rowFile: &c.rows}
	}
	defer c.readers.Put(r)
	return c.checked(r.find(row))
}

// checked returns a record, an empty one and [Corpus.Err] for an error.
func (c *Corpus) checked(r record, err error) record {
	if err != nil {
		c.failed.CompareAndSwap(nil, &err)
		return record{}
	}
	return r
}

// NumShort returns the number of documents that are too short for a fingerprint: they are compared
// with none, and kept.
func (c *Corpus) NumShort() int { return c.rows.shorts }

// ReadDocuments returns the corpus of the documents in some inputs. Those with too few features for
// a fingerprint are counted by the report, are not compared, and are kept. It
// sets cfg.Document.ValueFields as the policy needs them.
func ReadDocuments(ctx context.Context, inputs []string, cfg ingest.Config, o ReadOptions) (*Corpus, ingest.Report,
	error) {
	cfg.Document.ValueFields = o.fields()
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	cfg.Document.Extract = document.Extract(cfg.Recipe.Extract)
	cfg = o.reading(cfg)
	c := NewCorpus(&cfg.Recipe, o)
	c.inputs, c.options = inputs, cfg.Document
	c.options.Meter = nil // it counts the first reading
	if err := c.expect(0); err != nil {
		return nil, ingest.Report{}, err // nothing is reserved
	}
	err := c.sources.begin(ctx, inputs)
	if err == nil {
		err = o.checkFields(ctx, inputs, cfg.Document)
	}
	if err != nil {
		c.Close()
		return nil, ingest.Report{}, err
	}
	c.unread = map[string][]int64{}
	skipped := cfg.Skipped
	cfg.Skipped = func(s *document.Skip) error {
		if s.Reason == document.TooLarge && s.Line > 0 {
			c.unread[s.Source] = append(c.unread[s.Source], int64(s.Line))
		}
		if skipped == nil {
			return nil
		}
		return skipped(s)
	}
	report, err := ingest.Run(ctx, inputs, cfg, func(r ingest.Record) error {
		at := Place{r.Source, int64(r.Line)}
		if !r.OK {
			return c.appendShort(r.ID, r.TextBytes, at, r.Values)
		}
		c.units.set(r.Unit)
		return c.Append(Document{r.ID, r.Fingerprint, r.Hash, r.TextBytes, r.Values, r.Modified, at})
	})
	c.fileUnits = report.FileUnits
	c.countUnits()
	if err == nil {
		err = c.sources.end()
	}
	if err == nil {
		err = c.endHashes()
	}
	if err == nil {
		err = c.expect(c.Len())
	}
	if err != nil {
		c.Close()
	}
	return c, report, err
}

// ReadPrints returns the corpus of one or more fingerprint files; of documents without IDs the rows
// are the IDs. It verifies checksums. The error wraps [simhash.ErrMixed] unless all files have one
// recipe, and IDs or none.
func ReadPrints(ctx context.Context, paths []string, o ReadOptions) (_ *Corpus, err error) {
	c := NewCorpus(nil, o)
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	n := 0
	if o.Open == nil {
		o.Open = ndf.Open
	}
	for _, path := range paths {
		f, err := o.Open(path)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
		n += int(f.Len())
	}
	files := c.files
	if _, err := ndf.HaveIDs(files); err != nil {
		return nil, err
	}
	parts, err := ndf.Parts(files)
	if err != nil {
		return nil, err
	}
	c.held = parts != nil
	if err := c.expect(n); err != nil {
		return nil, err
	}
	c.recipe = files[0].Recipe()
	if err := o.Keep.checkPrints(c.recipe != nil); err != nil && n > 0 { // rather than after all is read
		return nil, err
	}
	if c.sources.shares = parts != nil; parts != nil {
		return c, c.readParts(ctx, files, parts)
	}
	if err := c.sources.begin(ctx, paths); err != nil {
		return nil, err
	}
	if c.recipe != nil && o.Keep.byLength() {
		c.lengths = make([]uint32, 0, n)
	}
	var pieces [][]uint64
	n = 0
	for _, f := range files {
		if err := c.readFile(ctx, f, files[0], Row(n)); err != nil {
			return nil, err
		}
		n += int(f.Len())
		pieces = slices.AppendSeq(pieces, f.Chunks)
	}
	c.mapped = cluster.NewPrints(pieces...)
	return c, nil
}

// check verifies a file, whose recipe must be that of the first.
func (c *Corpus) check(ctx context.Context, f, first *ndf.File) error {
	if s := f.Store(); s != nil {
		if err := s.Verify(ctx, c.o.Threads, nil); err != nil {
			return err
		}
	}
	return simhash.Compatible(first.Path(), c.recipe, f.Path(), f.Recipe())
}

// readParts appends the documents of shares, in the order of the inputs of which they are shares.
func (c *Corpus) readParts(ctx context.Context, files []*ndf.File, parts []ndf.Part) error {
	for _, f := range files {
		if err := c.check(ctx, f, files[0]); err != nil {
			return err
		}
	}
	for _, p := range parts {
		for d, err := range p.Documents {
			at := Place{d.File, d.Row}
			switch {
			case err != nil:
			case d.OK:
				err = c.Append(Document{ID: d.ID, Fingerprint: d.Fingerprint, TextBytes: d.TextBytes, Place: at})
			default:
				err = c.appendShort(d.ID, d.TextBytes, at, nil)
			}
			if err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return c.sources.end()
}

// readFile appends a file whose first row is given, and whose recipe must be that of the first file.
// Its fingerprints stay in it.
func (c *Corpus) readFile(ctx context.Context, f, first *ndf.File, row Row) error {
	if err := c.check(ctx, f, first); err != nil {
		return err
	}
	if f.Len() == 0 {
		return ctx.Err() // no row is of it
	}
	c.parts = append(c.parts, part{row, f.Path()})
	c.sources.appendFile(f.Path(), row, int(f.Len()))
	if c.o.Keep.byLength() {
		for chunk := range f.TextBytes {
			c.lengths = append(c.lengths, chunk...)
		}
	}
	for id, err := range f.IDs {
		if err != nil {
			return err
		}
		if err := c.rows.append(record{id: id}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// reading returns cfg with less read ahead where there is little memory: a quarter of what the
// budget has left beside the rest, since reading takes twice that, and the documents, of which
// nothing is known yet, need some, too.
func (o *ReadOptions) reading(cfg ingest.Config) ingest.Config {
	least := cfg
	least.Budget = 1
	o.readingBytes = least.NeedBytes()
	left := o.Budget.Left()
	left -= min(left, (&Corpus{o: *o, inputs: []string{}}).needBytes(0))
	cfg.Budget = int64(min(max(left/4, 1), ingest.BudgetBytes))
	o.readingBytes = cfg.NeedBytes()
	return cfg
}

// needBytes returns the memory that reading, comparing and copying that many documents takes. If more
// than an eighth of them are near another these take more, which is reserved when they are known.
//
//	a document                          bytes
//	fingerprint, unless it is mapped    8
//	where its record is                 0.25
//	what --keep goes by                 0, 4 (length), 8 for each value
//	its source, if a field names it     2
//	its URL, while these are compared   16
//	while it is compared                5.5
func (c *Corpus) needBytes(documents int) uint64 {
	o := cluster.Options{Star: !c.o.Find.Chains, Threads: c.o.Threads}
	beside := c.besideBytes(documents)
	find := o.NeedBytes(uint64(documents))
	if c.inputs != nil {
		find = max(find, c.o.readingBytes+c.columnBytes(documents)*5/4)
	}
	if c.o.Copies {
		find = max(find, copyBytes(threads(c.o.Find)))
	}
	return beside + find
}

// columnBytes returns the memory of the columns of all documents. A column that grows as documents
// arrive takes more than twice its bytes for a moment; the clusters come when that is over.
func (c *Corpus) columnBytes(documents int) uint64 {
	each := uint64(0)
	if c.held {
		each = 8
	}
	if c.o.Keep.byLength() {
		each += 4
	}
	each += 8 * uint64(len(c.values))
	if c.o.Source.Field != "" {
		each += 2
	}
	if len(c.o.SameURL) > 0 {
		each += 16
	}
	return each*uint64(documents) + uint64(documents)/4
}

// besideBytes returns the memory beside that of the search for clusters.
func (c *Corpus) besideBytes(documents int) uint64 {
	bytes := c.columnBytes(documents)
	if known := c.o.Find.KnownBytes; known != nil {
		bytes += known(documents) // what the collector has not taken back while the rest is compared
	}
	if v := c.o.Find.Verify; v != nil {
		bytes += uint64(v.memory())
	}
	return bytes
}

// forClusters sets the memory of a search for clusters: the reserved bytes, and more when it turns out
// that many documents have a near one.
func (c *Corpus) forClusters(o *cluster.Options) {
	beside := c.besideBytes(c.Len())
	if c.reserved == nil || c.reserved.Bytes() < beside {
		return
	}
	o.Memory = c.reserved.Bytes() - beside
	o.Reserve = func(bytes uint64) error {
		if beside+bytes <= c.reserved.Bytes() {
			return nil
		}
		if c.o.Say != nil {
			c.o.Say(c.Len(), beside+bytes)
		}
		return c.reserved.Resize("comparing documents of which very many are near others", beside+bytes)
	}
}

// unitsEach is the number of units of which the rows are counted at a time.
const unitsEach = 512

// countUnits makes rowAt ready.
func (c *Corpus) countUnits() {
	rows := 0
	for i, word := range c.units {
		if i%(unitsEach/64) == 0 {
			c.rowsBefore = append(c.rowsBefore, Row(rows))
		}
		rows += bits.OnesCount64(word)
	}
}

// rowAt returns the row of the first unit, from a unit on, that became one.
func (c *Corpus) rowAt(unit int) Row {
	if unit/64 >= len(c.units) {
		return Row(c.Len())
	}
	row := c.rowsBefore[unit/unitsEach]
	for _, word := range c.units[unit/unitsEach*(unitsEach/64) : unit/64] {
		row += Row(bits.OnesCount64(word))
	}
	return row + Row(bits.OnesCount64(c.units[unit/64]&(1<<(unit%64)-1)))
}

// bitmap is a set of small integers.
type bitmap []uint64

func (b *bitmap) set(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitmap) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1 }

// bit returns 1 for a member.
func (b bitmap) bit(i int) int {
	if b.has(i) {
		return 1
	}
	return 0
}

func newBitmap(n int) bitmap { return slices.Grow(bitmap(nil), n/64+1) }
