package decontaminate

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// A Hit is an item that a document holds.
type Hit struct {
	Item             *Item
	From, To         int // of the document's text, as bytes
	FromChar, ToChar int
	Longest          int     // run, as tokens
	Covered          float64 // share of the item's tokens, in runs and gaps
	Score            float64
	Answer           bool // the item's answer stands near
}

// A Document is a document with hits, by item.
type Document struct {
	ID, Source string
	Line       int // as document.Document has it
	Hits       []Hit

	hash uint64 // of the text
	at   int    // in the spool
}

// A Result holds the hits in a corpus. It must be closed.
type Result struct {
	Sets []Set // of the items, with what was met
	Met  int   // documents with hits

	x       *Items
	inputs  []string
	reading document.Options
	threads int
	spool   *spill.Run[byte]
	all     []byte
	units   []int // of the files
	gone    map[string][]goes

	documents []atomic.Uint32 // with each n-gram, more than Options.Common or exact
	found     []uint32        // for each item found as a whole, the documents with it
}

// A goes is a document with hits: its place in its file, the hash of its text, its place in the
// spool.
type goes struct {
	line int
	hash uint64
	at   int
}

// textSeed is of the hashes by which a text is known again.
var textSeed = maphash.MakeSeed()

// prepared is a document on its way to the spool: its candidates, encoded, and its n-grams.
type prepared struct {
	candidates []candidate
	record     []byte // of the document and its candidates; empty if it has none
	grams      []uint32
}

// Find reads a corpus and finds the items in it. It does not use cfg.Recipe. Temporary files lie in
// the folder dir, "" for the system's. The report is valid with an error, too.
func Find(ctx context.Context, inputs []string, cfg ingest.Config, x *Items, d *disk.Disk, dir string) (
	_ *Result, _ ingest.Report, err error) {
	r := &Result{Sets: slices.Clone(x.Sets), x: x, inputs: inputs, reading: cfg.Document, threads: cfg.Threads,
		documents: make([]atomic.Uint32, len(x.table.keys)), found: make([]uint32, len(x.items)), gone: map[string][]goes{}}
	r.reading.Meter = nil // it counts the first reading
	if r.spool, err = spill.Create[byte](d, dir, "candidates", 1<<18); err != nil {
		return nil, ingest.Report{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	report, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[prepared]{
		Worker: func() (func(int, *document.Document) (prepared, error), error) {
			k, err := newTokeniser()
			m := &matcher{tokeniser: k, x: x, documents: r.documents, windows: make([][]window, len(x.table.lengths))}
			return func(_ int, doc *document.Document) (prepared, error) { return m.prepare(doc), nil }, err
		},
		Borrows: true,
		Emit:    r.add,
	})
	if err == nil {
		r.all, err = r.spool.Map()
	}
	if err != nil {
		return nil, report, err
	}
	r.units = report.FileUnits
	r.count()
	return r, report, nil
}

// prepare finds the candidates of a document.
func (m *matcher) prepare(doc *document.Document) (p prepared) {
	p.candidates = m.find(doc.Text)
	p.grams = slices.Clone(m.grams)
	if len(p.candidates) == 0 {
		return p
	}
	b := appendText(appendText(nil, doc.ID), doc.Source)
	b = binary.AppendUvarint(b, uint64(doc.Line))
	b = binary.LittleEndian.AppendUint64(b, maphash.String(textSeed, doc.Text))
	b = binary.AppendUvarint(b, uint64(len(p.candidates)))
	chars := newCharIndex(doc.Text)
	for i := range p.candidates {
		c := &p.candidates[i]
		from, to := m.starts[c.from], m.ends[c.to-1]
		answer := 0
		if c.answer {
			answer = 1
		}
		for _, n := range []int{c.item, from, to, chars.before(from), chars.before(to), c.longest, answer, len(c.spans)} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		for _, s := range c.spans {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(s.from)), uint64(s.to))
		}
	}
	p.record = b
	return p
}

// A charIndex counts the characters before places of a text.
type charIndex struct {
	text string
	sums []int // before each charStep bytes
}

const charStep = 512

func newCharIndex(text string) charIndex {
	x := charIndex{text, []int{0}}
	for at := 0; at+charStep <= len(text); at += charStep {
		x.sums = append(x.sums, x.sums[len(x.sums)-1]+starts(text[at:at+charStep]))
	}
	return x
}

// before returns the number of characters before a byte.
func (x *charIndex) before(at int) int {
	return x.sums[at/charStep] + starts(x.text[at-at%charStep:at])
}

// starts returns how many bytes begin a character of a valid text.
func starts(text string) (n int) {
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			n++
		}
	}
	return n
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// add adds the next document.
func (r *Result) add(p prepared) error {
	for _, g := range p.grams {
		r.documents[g].Add(1)
	}
	possible := false
	for i := range p.candidates {
		c := &p.candidates[i]
		it := &r.x.items[c.item]
		if it.whole {
			r.found[c.item]++
		}
		possible = possible || r.score(it, c.spans, false) >= r.x.o.Threshold
	}
	if !possible {
		return nil
	}
	return r.spool.Append(p.record)
}

// score returns the weight of some spans of an item divided by that of all, or, while documents are
// still read, the most that it may be in the end: the spans not covered may come up often.
func (r *Result) score(it *Item, spans []span, inTheEnd bool) float64 {
	n, common := it.Tokens(), uint32(r.x.o.Common)
	if it.whole || len(spans) == 1 && spans[0] == (span{0, n}) {
		return 1
	}
	most := make([]float64, n) // for each token, of the n-grams with it
	for p, g := range r.x.gram[it.from : int(it.to)-it.n+1] {
		v := float64(r.x.table.items[g]) * float64(max(min(r.documents[g].Load(), common), 1))
		for i := p + it.n - 1; i >= p && most[i] < v; i-- {
			most[i] = v
		}
	}
	sum := func(from, to int, covered bool) (sum float64) {
		for i, m := range most[from:to] {
			if !covered && !inTheEnd {
				m = float64(r.x.shared[int(it.from)+from+i]) * float64(common)
			}
			sum += 1 / (m * m)
		}
		if !covered && to-from >= otherTokens {
			sum *= 2
		}
		return sum
	}
	some, rest, before := 0.0, 0.0, 0
	for _, s := range spans {
		some += sum(s.from, s.to, true)
		rest += sum(before, s.from, false)
		before = s.to
	}
	return some / (some + rest + sum(before, n, false))
}

// Documents yields the documents with hits, in the order of the inputs.
func (r *Result) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for at := 0; at < len(r.all); {
			d, size := r.document(at)
			if len(d.Hits) > 0 && !yield(d) {
				return
			}
			at += size
		}
	}
}

// document decodes the document at a place of the spool, with its hits, and returns the bytes that
// it takes.
func (r *Result) document(at int) (d Document, size int) {
	b := r.all[at:]
	next := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	text := func() string {
		n := next()
		s := string(b[:n])
		b = b[n:]
		return s
	}
	d = Document{ID: text(), Source: text(), Line: next(), at: at}
	d.hash = binary.LittleEndian.Uint64(b)
	b = b[8:]
	for range next() {
		item := next()
		it := &r.x.items[item]
		h := Hit{Item: it, From: next(), To: next(), FromChar: next(), ToChar: next(), Longest: next(), Answer: next() == 1}
		spans, covered := make([]span, next()), 0
		for i := range spans {
			spans[i] = span{next(), next()}
			covered += spans[i].to - spans[i].from
		}
		if h.Score = r.score(it, spans, true); h.Score < r.x.o.Threshold || r.isPhrase(item) {
			continue
		}
		h.Covered = float64(covered) / float64(it.Tokens())
		d.Hits = append(d.Hits, h)
	}
	return d, len(r.all) - at - len(b)
}

// isPhrase reports whether an item is short and stands in too many documents.
func (r *Result) isPhrase(item int) bool {
	return r.found[item] > uint32(min(r.x.o.Common, math.MaxInt32))
}

// count counts the items and documents met.
func (r *Result) count() {
	met, answered := map[*Item]bool{}, map[*Item]bool{}
	for d := range r.Documents() {
		r.Met++
		r.gone[d.Source] = append(r.gone[d.Source], goes{d.Line, d.hash, d.at})
		for i, h := range d.Hits {
			set := &r.Sets[h.Item.Set]
			if !slices.ContainsFunc(d.Hits[:i], func(o Hit) bool { return o.Item.Set == h.Item.Set }) {
				set.Documents++
			}
			if !met[h.Item] {
				met[h.Item] = true
				set.Met++
			}
			if h.Answer && !answered[h.Item] {
				answered[h.Item] = true
				set.Answered++
			}
		}
	}
	for i := range r.x.items {
		if r.isPhrase(i) {
			r.Sets[r.x.items[i].Set].Phrases++
		}
	}
}

// Close gives back the temporary file.
func (r *Result) Close() error { return r.spool.Close() }

// Copy reads the inputs again, counted by meter unless it is nil, and copies them without the
// documents that have hits, as [dedup.Rewriting] does.
func (r *Result) Copy(ctx context.Context, names *dedup.Copies, meter *document.Meter, create dedup.Create) (
	dedup.CopyReport, error) {
	return r.rewrite(ctx, names, meter, create, nil)
}

// Annotations are the columns that [Result.Annotate] adds to documents.
var Annotations = []result.Column{{Name: "ndd_items", Kind: result.Text, Optional: true},
	{Name: "ndd_score", Kind: result.Real, Optional: true}}

// Annotate copies the inputs as [Result.Copy] does, with all documents, and adds [Annotations] to
// each: a list of its hits, and the highest score.
func (r *Result) Annotate(ctx context.Context, names *dedup.Copies, meter *document.Meter, create dedup.Create) (
	dedup.CopyReport, error) {
	return r.rewrite(ctx, names, meter, create, &dedup.Fields{Columns: Annotations, Values: r.values})
}

// values returns the values of [Annotations]; a note is a place in the spool, from 1.
func (r *Result) values(note int) []any {
	if note == 0 {
		return []any{nil, nil}
	}
	type hit struct {
		Set      string  `json:"set"`
		ItemID   string  `json:"item_id"`
		From     int     `json:"from"`
		To       int     `json:"to"`
		FromChar int     `json:"from_char"`
		ToChar   int     `json:"to_char"`
		Score    float64 `json:"score"`
		Answer   bool    `json:"answer"`
	}
	var list []hit
	d, _ := r.document(note - 1)
	highest := 0.0
	for _, h := range d.Hits {
		highest = max(highest, h.Score)
		list = append(list, hit{r.Sets[h.Item.Set].Name, h.Item.ID, h.From, h.To, h.FromChar, h.ToChar, h.Score, h.Answer})
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings and numbers can be written
	}
	return []any{json.RawMessage(text), highest}
}

// rewrite copies the inputs without documents that have hits, or with fields.
func (r *Result) rewrite(ctx context.Context, names *dedup.Copies, meter *document.Meter, create dedup.Create,
	fields *dedup.Fields) (dedup.CopyReport, error) {
	w := dedup.Rewriting{Inputs: r.inputs, Options: r.reading, FileUnits: r.units, Threads: r.threads, Fields: fields,
		Judge: func(f document.File, _ int) func(*document.Extractor, document.Unit) (dedup.Verdict, error) {
			ahead := r.gone[f.Path]
			return func(x *document.Extractor, u document.Unit) (dedup.Verdict, error) {
				if len(ahead) == 0 || ahead[0].line != u.Line {
					return dedup.Verdict{}, nil
				}
				g := ahead[0]
				doc, err := x.Extract(u)
				if err != nil || maphash.String(textSeed, doc.Text) != g.hash {
					return dedup.Verdict{}, dedup.Changed(u.Source)
				}
				ahead = ahead[1:]
				return dedup.Verdict{Drop: true, Note: g.at + 1}, nil
			}
		}}
	return w.Copy(ctx, names, meter, create)
}
