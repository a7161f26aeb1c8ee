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

// A Hit is an item that a document contains.
type Hit struct {
	Item             *Item
	From, To         int // byte range in the document's text
	FromChar, ToChar int
	Longest          int     // length of the longest run, in tokens
	Covered          float64 // share of the item's tokens that the document has in the same order
	Score            float64
	Answer           bool // the item's answer is near the passage

	equal int // number of the item's tokens that the document has
}

// A Document is a document with hits, in the order of their items.
type Document struct {
	ID, Source string
	Line       int // the field Line of format.Document
	Hits       []Hit
}

// A Result holds the hits in a corpus. It must be closed.
type Result struct {
	Sets []Set // sets of the items, with their results
	Met  int   // documents with hits

	x            *Items
	inputs       []string
	readOptions  format.Options
	threads      int
	spool        spill.Column[byte]
	units        ingest.ReadFiles
	hitDocuments []hitDocument
	fileRanges   map[string][2]int // for each file, its range in hitDocuments
	scores       []float64         // scores of the candidates of hitDocuments; 0 if the candidate is no hit

	documents   []atomic.Uint32 // number of documents with each n-gram; exact below Options.Common
	wholeCounts []uint32        // for each item that is found as a whole, the number of documents with it
	sums        []sums          // sums of each item; empty if no score was computed
}

// A hitDocument is a document with hits: its line in the file, the hash of its text, its offset in the spool, and the
// index of its first score.
type hitDocument struct {
	line               int
	hash               uint64
	offset, firstScore int
}

// A pendingDocument holds a document until it is added to the spool: its names, the hash of its text, its n-grams, and
// its encoded candidates. Candidates are empty if there are none.
type pendingDocument struct {
	record     ingest.Record
	grams      []uint32
	candidates []byte
}

// Find reads a corpus and finds the items in it. It does not use cfg.Recipe. In cfg.Work it stores
// the n-grams and candidates of each file. The report is valid even if there is an error.
func Find(ctx context.Context, inputs []string, cfg ingest.Config, x *Items, d *disk.Disk) (
	_ *Result, _ ingest.Report, err error) {
	r := &Result{Sets: slices.Clone(x.Sets), x: x, inputs: inputs, readOptions: cfg.Document, threads: cfg.Threads,
		documents: make([]atomic.Uint32, len(x.table.keys)), wholeCounts: make([]uint32, len(x.items)), fileRanges: map[string][2]int{},
		sums: make([]sums, len(x.items)), spool: spill.NewColumn[byte](d, "", "candidates", 1<<18)}
	r.readOptions.Meter = nil // it counted the first time that the inputs were read
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	// Read the corpus, and find the candidates of each document.
	cfg.Recipe = simhash.Recipe{}
	if cfg.Work != nil {
		cfg.Job = x.job()
	}
	report, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[pendingDocument]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (pendingDocument, error), error) {
			k, err := newTokeniser(ctx)
			k.budget = x.o.Budget
			m := &matcher{tokeniser: k, x: x, documents: r.documents, countsAll: cfg.Work != nil, reached: map[int]int{}}
			return func(_ int, doc *format.Document) (pendingDocument, error) {
				p := m.prepare(doc)
				return p, m.err
			}, err
		},
		Borrows: true,
		Record:  pendingDocument.encode,
		Result:  documentOf,
		Emit:    r.add,
	})
	if err == nil {
		err = r.spool.End()
	}
	if err != nil {
		return nil, report, err
	}
	// Count the hits. The number of documents with each n-gram is known now.
	r.units = report.FileUnits
	r.count()
	return r, report, nil
}

// prepare finds the candidates of a document. It encodes them as varints:
//
//	candidates | for each: item, from, to, their characters, longest run, equal tokens, answer, spans |
//	for each span: from, to
func (m *matcher) prepare(doc *format.Document) pendingDocument {
	list := m.find(doc.Text)
	p := pendingDocument{record: ingest.Record{ID: doc.ID, Source: doc.Source, Line: doc.Line, TextBytes: len(doc.Text)},
		grams: slices.Clone(m.grams)}
	if len(list) == 0 {
		return p
	}
	p.record.Hash[0] = xxhash.Sum64String(doc.Text)
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

// candidates decodes the candidates that prepare encoded. It calls each with every candidate, as a hit without
// a score, and its spans. The spans are valid until each returns.
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

// encode returns the record to store for a document: its n-grams, as differences, and its candidates.
func (p pendingDocument) encode() ingest.Record {
	b, before := binary.AppendUvarint(nil, uint64(len(p.grams))), uint32(0)
	for _, g := range p.grams {
		b = binary.AppendUvarint(b, uint64(g-before))
		before = g
	}
	p.record.Payload = append(b, p.candidates...)
	return p.record
}

// documentOf is the inverse of encode.
func documentOf(record ingest.Record) pendingDocument {
	b, gram := store.Fields(record.Payload), uint32(0)
	record.Payload = nil
	p := pendingDocument{record: record}
	for range b.Uvarint() {
		gram += uint32(b.Uvarint())
		p.grams = append(p.grams, gram)
	}
	p.candidates = b
	return p
}

// job returns a description of everything except the corpus that the candidates depend on.
func (x *Items) job() string {
	h, _ := highwayhash.New128(make([]byte, highwayhash.Size)) // the key has the right length
	for _, list := range [][]uint64{x.tokens, x.answers} {
		binary.Write(h, binary.LittleEndian, list) // a hash takes all
	}
	for i := range x.items {
		it := &x.items[i]
		fmt.Fprintln(h, it.from, it.answerFrom, it.n, it.isWhole)
	}
	return fmt.Sprintf("items %x, equal tokens in order, threshold %g", h.Sum(nil), x.o.Threshold)
}

// charsBefore returns the number of characters of a text before each byte offset. It sorts places.
func charsBefore(text string, places []int) map[int]int {
	slices.Sort(places)
	before := make(map[int]int, len(places))
	offset, chars := 0, 0
	for _, place := range places {
		chars += utf8.RuneCountInString(text[offset:place])
		offset, before[place] = place, chars
	}
	return before
}

func (r *Result) add(p pendingDocument) error {
	for _, g := range p.grams {
		r.documents[g].Add(1)
	}
	if len(p.candidates) == 0 {
		return nil
	}
	list := store.Fields(p.candidates)
	r.x.candidates(&list, func(item int, h Hit, _ []span) {
		if h.Item.isWhole {
			r.wholeCounts[item]++
		}
	})
	b := store.AppendText(store.AppendText(nil, p.record.ID), p.record.Source)
	b = binary.AppendUvarint(b, uint64(p.record.Line))
	b = binary.LittleEndian.AppendUint64(b, p.record.Hash[0])
	return r.spool.AppendAll(append(b, p.candidates...))
}

// sums has, for each token of an item, the sums over the tokens before it.
type sums struct {
	weight []float64
	words  []float64 // number of tokens that are no instruction
}

// weigh returns the sums of an item. It must be called after all documents were counted.
func (r *Result) weigh(it *Item) (s sums) {
	n, common := it.Tokens(), uint32(r.x.o.Common)
	products := make([]float64, n) // for each token, the largest product of items and documents of its n-grams
	rare := make([]bool, n)        // the token is in an n-gram that few items share
	for p, g := range r.x.gram[it.from : int(it.to)-it.n+1] {
		v := float64(r.x.table.items[g]) * float64(max(min(r.documents[g].Load(), common), 1))
		for i := p + it.n - 1; i >= p && products[i] < v; i-- {
			products[i] = v
		}
		for i := p + it.n - 1; i >= p && r.x.table.items[g] <= sharedMax && !rare[i]; i-- {
			rare[i] = true
		}
	}
	s.weight, s.words = make([]float64, n+1), make([]float64, n+1)
	for i, m := range products {
		s.weight[i+1], s.words[i+1] = s.weight[i]+1/(m*m), s.words[i]
		if rare[i] {
			s.words[i+1]++
		}
	}
	return s
}

// score returns the smaller of two shares of the spans: in the weight of an item, and in its number of words.
func (r *Result) score(item int, spans []span) float64 {
	it := &r.x.items[item]
	n := it.Tokens()
	if it.isWhole || len(spans) == 1 && spans[0] == (span{0, n}) {
		return 1
	}
	if r.sums[item].weight == nil {
		r.sums[item] = r.weigh(it)
	}
	share := func(sums []float64) float64 {
		partial := 0.0
		for _, s := range spans {
			partial += sums[s.to] - sums[s.from]
		}
		return partial / sums[n]
	}
	return min(share(r.sums[item].weight), share(r.sums[item].words))
}

// Documents yields the documents with hits, in the order of the inputs.
func (r *Result) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for i := range r.hitDocuments {
			if !yield(r.document(&r.hitDocuments[i])) {
				return
			}
		}
	}
}

func (r *Result) document(g *hitDocument) Document {
	b := store.Fields(r.spool.All[g.offset:])
	d := Document{ID: string(b.Text()), Source: string(b.Text()), Line: int(b.Uvarint())}
	b.Word()
	i := g.firstScore
	r.x.candidates(&b, func(_ int, h Hit, _ []span) {
		if h.Score = r.scores[i]; h.Score > 0 {
			h.Covered = float64(h.equal) / float64(h.Item.Tokens())
			d.Hits = append(d.Hits, h)
		}
		i++
	})
	return d
}

// isPhrase reports whether an item is short and occurs in too many documents.
func (r *Result) isPhrase(item int) bool {
	return r.wholeCounts[item] > uint32(min(r.x.o.Common, math.MaxInt32))
}

// Close removes the temporary file.
func (r *Result) Close() error { return r.spool.Close() }
