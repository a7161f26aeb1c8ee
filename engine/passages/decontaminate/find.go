package decontaminate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/spill"
	"example.org/ndd/engine/storage/store"
)

// A Hit is an item that a document holds.
type Hit struct {
	Item             *Item
	From, To         int // of the document's text, as bytes
	FromChar, ToChar int
	Longest          int     // run, as tokens
	Covered          float64 // share of the item's tokens that the document has in the same order
	Score            float64
	Answer           bool // the item's answer stands near

	equal int // tokens of the item that the document has
}

// A Document is a document with hits, by item.
type Document struct {
	ID, Source string
	Line       int // as format.Document has it
	Hits       []Hit
}

// A Result holds the hits in a corpus. It must be closed.
type Result struct {
	Sets []Set // of the items, with what was met
	Met  int   // documents with hits

	x       *Items
	inputs  []string
	reading format.Options
	threads int
	spool   spill.Column[byte]
	units   ingest.ReadFiles
	met     []goes
	gone    map[string][2]int // of each file, the range of met
	scores  []float64         // of the candidates of met; 0 for one that is no hit

	documents []atomic.Uint32 // with each n-gram, more than Options.Common or exact
	found     []uint32        // for each item found as a whole, the documents with it
	sums      []sums          // of the items that scores were computed of
}

// A goes is a document with hits: its place in its file, the hash of its text, its place in the
// spool, the first of its scores.
type goes struct {
	line       int
	hash       uint64
	at, scores int
}

// prepared is a document on its way to the spool: its names and the hash of its text, its n-grams,
// its candidates, encoded; none if it has none.
type prepared struct {
	of         ingest.Record
	grams      []uint32
	candidates []byte
}

// Find reads a corpus and finds the items in it. It does not use cfg.Recipe; cfg.Work keeps what the
// files hold of these items. Temporary files lie in the folder dir, "" for the system's. The report
// is valid with an error, too.
func Find(ctx context.Context, inputs []string, cfg ingest.Config, x *Items, d *disk.Disk, dir string) (
	_ *Result, _ ingest.Report, err error) {
	r := &Result{Sets: slices.Clone(x.Sets), x: x, inputs: inputs, reading: cfg.Document, threads: cfg.Threads,
		documents: make([]atomic.Uint32, len(x.table.keys)), found: make([]uint32, len(x.items)), gone: map[string][2]int{},
		sums: make([]sums, len(x.items)), spool: spill.NewColumn[byte](d, dir, "candidates", 1<<18)}
	r.reading.Meter = nil // it counts the first reading
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	cfg.Recipe = simhash.Recipe{}
	if cfg.Work != nil {
		cfg.Job = x.job()
	}
	report, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[prepared]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (prepared, error), error) {
			k, err := newTokeniser(ctx, x.o.Ignore)
			k.budget = x.o.Budget
			m := &matcher{tokeniser: k, x: x, documents: r.documents, windows: make([][]window, len(x.table.lengths)),
				all: cfg.Work != nil}
			return func(_ int, doc *format.Document) (prepared, error) {
				p := m.prepare(doc)
				return p, m.err
			}, err
		},
		Borrows: true,
		Record:  prepared.record,
		Result:  kept,
		Emit:    r.add,
	})
	if err == nil {
		err = r.spool.End()
	}
	if err != nil {
		return nil, report, err
	}
	r.units = report.FileUnits
	r.count()
	return r, report, nil
}

// prepare finds the candidates of a document. It encodes them as numbers, varints:
//
//	candidates | of each: item, from, to, their characters, longest run, equal tokens, answer, spans |
//	of each: from, to
func (m *matcher) prepare(doc *format.Document) prepared {
	list := m.find(doc.Text)
	p := prepared{of: ingest.Record{ID: doc.ID, Source: doc.Source, Line: doc.Line, TextBytes: len(doc.Text)},
		grams: slices.Clone(m.grams)}
	if len(list) == 0 {
		return p
	}
	p.of.Hash[0] = xxhash.Sum64String(doc.Text)
	b := binary.AppendUvarint(nil, uint64(len(list)))
	var places []int
	for _, c := range list {
		places = append(places, m.plain.Start(m.starts[c.from]), m.plain.End(m.ends[c.to-1]))
	}
	chars := charsBefore(doc.Text, places)
	for i := range list {
		c := &list[i]
		from, to := m.plain.Start(m.starts[c.from]), m.plain.End(m.ends[c.to-1])
		answer := 0
		if c.answer {
			answer = 1
		}
		for _, n := range []int{c.item, from, to, chars[from], chars[to], c.longest, c.equal, answer, len(c.spans)} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		for _, s := range c.spans {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(s.from)), uint64(s.to))
		}
	}
	p.candidates = b
	return p
}

// candidates calls each with the candidates that prepare encoded, as hits without a score, and their
// spans, which are valid until each returns.
func (x *Items) candidates(b *store.Fields, each func(item int, h Hit, spans []span)) {
	var spans []span
	next := func() int { return int(b.Uvarint()) }
	for range next() {
		item := next()
		h := Hit{Item: &x.items[item], From: next(), To: next(), FromChar: next(), ToChar: next(), Longest: next(),
			equal: next(), Answer: next() == 1}
		spans = spans[:0]
		for range next() {
			spans = append(spans, span{next(), next()})
		}
		each(item, h, spans)
	}
}

// record returns the record kept of a document: its n-grams, each from the one before, and candidates.
func (p prepared) record() ingest.Record {
	b, before := binary.AppendUvarint(nil, uint64(len(p.grams))), uint32(0)
	for _, g := range p.grams {
		b = binary.AppendUvarint(b, uint64(g-before))
		before = g
	}
	p.of.Payload = append(b, p.candidates...)
	return p.of
}

// kept is the inverse of record.
func kept(of ingest.Record) prepared {
	b, gram := store.Fields(of.Payload), uint32(0)
	of.Payload = nil
	p := prepared{of: of}
	for range b.Uvarint() {
		gram += uint32(b.Uvarint())
		p.grams = append(p.grams, gram)
	}
	p.candidates = b
	return p
}

// job returns what candidates depend on beside the corpus.
func (x *Items) job() string {
	h, _ := highwayhash.New128(make([]byte, highwayhash.Size)) // the key has the right length
	for _, list := range [][]uint64{x.tokens, x.answers} {
		binary.Write(h, binary.LittleEndian, list) // a hash takes all
	}
	for i := range x.items {
		it := &x.items[i]
		fmt.Fprintln(h, it.from, it.answerFrom, it.n, it.whole)
	}
	return fmt.Sprintf("items %x, equal tokens in order, threshold %g, ignore %d", h.Sum(nil), x.o.Threshold, x.o.Ignore)
}

// charsBefore returns the number of characters of a text before each of some bytes, which it sorts.
func charsBefore(text string, places []int) map[int]int {
	slices.Sort(places)
	before := make(map[int]int, len(places))
	at, chars := 0, 0
	for _, place := range places {
		chars += utf8.RuneCountInString(text[at:place])
		at, before[place] = place, chars
	}
	return before
}

func (r *Result) add(p prepared) error {
	for _, g := range p.grams {
		r.documents[g].Add(1)
	}
	if len(p.candidates) == 0 {
		return nil
	}
	list := store.Fields(p.candidates)
	r.x.candidates(&list, func(item int, h Hit, _ []span) {
		if h.Item.whole {
			r.found[item]++
		}
	})
	b := store.AppendText(store.AppendText(nil, p.of.ID), p.of.Source)
	b = binary.AppendUvarint(b, uint64(p.of.Line))
	b = binary.LittleEndian.AppendUint64(b, p.of.Hash[0])
	return r.spool.AppendAll(append(b, p.candidates...))
}

// sums are sums over the tokens of an item before each one.
type sums struct {
	weight []float64
	words  []float64 // tokens that are no instruction
}

// weigh returns the sums of an item. All documents are counted.
func (r *Result) weigh(it *Item) (s sums) {
	n, common := it.Tokens(), uint32(r.x.o.Common)
	most := make([]float64, n) // for each token, of the n-grams with it
	own := make([]bool, n)     // the token is in an n-gram that few items share
	for p, g := range r.x.gram[it.from : int(it.to)-it.n+1] {
		v := float64(r.x.table.items[g]) * float64(max(min(r.documents[g].Load(), common), 1))
		for i := p + it.n - 1; i >= p && most[i] < v; i-- {
			most[i] = v
		}
		for i := p + it.n - 1; i >= p && r.x.table.items[g] <= sharedMax && !own[i]; i-- {
			own[i] = true
		}
	}
	s.weight, s.words = make([]float64, n+1), make([]float64, n+1)
	for i, m := range most {
		s.weight[i+1], s.words[i+1] = s.weight[i]+1/(m*m), s.words[i]
		if own[i] {
			s.words[i+1]++
		}
	}
	return s
}

// score returns the share of some spans in the weight of an item, or in its words if that is less.
func (r *Result) score(item int, spans []span) float64 {
	it := &r.x.items[item]
	n := it.Tokens()
	if it.whole || len(spans) == 1 && spans[0] == (span{0, n}) {
		return 1
	}
	if r.sums[item].weight == nil {
		r.sums[item] = r.weigh(it)
	}
	share := func(sums []float64) float64 {
		some := 0.0
		for _, s := range spans {
			some += sums[s.to] - sums[s.from]
		}
		return some / sums[n]
	}
	return min(share(r.sums[item].weight), share(r.sums[item].words))
}

// Documents yields the documents with hits, in the order of the inputs.
func (r *Result) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for i := range r.met {
			if !yield(r.document(&r.met[i])) {
				return
			}
		}
	}
}

func (r *Result) document(g *goes) Document {
	b := store.Fields(r.spool.All[g.at:])
	d := Document{ID: string(b.Text()), Source: string(b.Text()), Line: int(b.Uvarint())}
	b.Word()
	i := g.scores
	r.x.candidates(&b, func(_ int, h Hit, _ []span) {
		if h.Score = r.scores[i]; h.Score > 0 {
			h.Covered = float64(h.equal) / float64(h.Item.Tokens())
			d.Hits = append(d.Hits, h)
		}
		i++
	})
	return d
}

// isPhrase reports whether an item is short and stands in too many documents.
func (r *Result) isPhrase(item int) bool {
	return r.found[item] > uint32(min(r.x.o.Common, math.MaxInt32))
}

// Close gives back the temporary file.
func (r *Result) Close() error { return r.spool.Close() }
