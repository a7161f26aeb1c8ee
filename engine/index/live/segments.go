package live

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/generations"
	"ndd/permute"
)

// An upkeep moves documents from memtables to segments, merges segments and drops those that have
// expired, in the background and when it is asked to. Its locks are taken before all others, and
// never together.
type upkeep struct {
	*shared
	writer   *writer
	group    sync.WaitGroup // the goroutines that start begins
	flushing sync.Mutex     // held while memtables become a segment
	merging  sync.Mutex     // held during a merge
}

// gathered holds the live documents of consecutive segments or memtables: the input of the segment
// that replaces them. It is what building would be given of the same documents, so that the segment
// is the same as a built one. Segments are read when that is written, and nothing is held of them
// but which of their documents are kept; of memtables the fingerprints are.
type gathered struct {
	segments  []*version.Segment
	memtables []*memtable.Table
	from, to  rows.DocID             // what they have is between these
	kept      []*segment.RowSet      // of each segment, then of each memtable; nil: all of its rows
	prints    *memory.Buffer[uint64] // of memtables, in order of documents
	numbers   rows.Numbers
	expires   rows.Expiries
	ids       bool
	sketches  bool   // are kept
	whole     *input // all of it, where it comes from elsewhere
}

// gather takes segments, or memtables that no longer grow.
func gather(segments []*version.Segment, memtables []*memtable.Table, c *Config, now rows.Time) (*gathered, error) {
	g := &gathered{segments: segments, memtables: memtables, ids: c.IDs}
	g.sketches = c.Sketches && (len(memtables) > 0 ||
		slices.ContainsFunc(segments, func(s *version.Segment) bool { return s.Sketches != nil }))
	if len(segments) > 0 {
		g.from = segments[0].From
	} else {
		g.from = memtables[0].First
	}
	for _, s := range segments {
		g.to = max(g.to, s.End())
		g.keep(&s.Numbers, &s.Expires, &s.Dead, now)
	}
	docs := 0
	for _, m := range memtables {
		docs += m.Len()
		g.to = max(g.to, m.End())
	}
	var err error
	if g.prints, err = memory.Make[uint64](docs); err != nil {
		return nil, err
	}
	at := 0
	for _, m := range memtables {
		room := g.prints.Data[at:][:m.Len()]
		m.EachPage(0, m.Len(), func(row int, prints []uint64) bool {
			copy(room[row:], prints)
			return true
		})
		own, expires := rows.NewNumbers(m.First, uint64(m.Len())), m.Expiries()
		for row, n := range g.keep(&own, &expires, &m.Dead, now) {
			at += copy(g.prints.Data[at:], room[row:][:n])
		}
	}
	g.prints.Data = g.prints.Data[:at]
	return g, nil
}

// keep appends the numbers and expiry of the live rows of a source, and returns runs of these rows.
func (g *gathered) keep(numbers *rows.Numbers, expires *rows.Expiries, dead *rows.Tombstones,
	now rows.Time) iter.Seq2[uint64, uint64] {
	set := hidden(numbers, expires, dead, now)
	g.kept = append(g.kept, set)
	for r := range numbers.Runs {
		set.Runs(r.Row, r.Row+r.N, func(row, n uint64) bool {
			g.numbers.Append(r.Value+rows.DocID(row-r.Row), n)
			expires.Between(row, row+n, g.expires.Append)
			return true
		})
	}
	return func(yield func(row, n uint64) bool) { set.Runs(0, numbers.N, yield) }
}

// hidden returns the rows of a source that a reader who begins now sees; nil where it sees all.
func hidden(numbers *rows.Numbers, expires *rows.Expiries, dead *rows.Tombstones, now rows.Time) *segment.RowSet {
	if dead.Len() == 0 && !expires.Any(now) {
		return nil
	}
	set := segment.NewRowSet(numbers.N)
	dead.Each(func(doc rows.DocID, _ rows.Deletion) {
		if row, ok := numbers.Row(doc); ok {
			set.Drop(row)
		}
	})
	for r := range expires.Runs {
		for row := r.Row; r.Value.Expired(now) && row < r.Row+r.N; row++ {
			set.Drop(row)
		}
	}
	return set
}

// input returns what a segment is written from.
func (g *gathered) input() segment.Input {
	var in segment.Input
	if g.whole != nil {
		return g.whole.Input
	}
	if g.prints != nil { // a flush of nothing but deletions has none
		in.Fingerprints = g.prints.Data
	}
	for i, s := range g.segments {
		in.Sources = append(in.Sources, segment.Source{Segment: s.Segment, Rows: g.kept[i]})
	}
	in.IDs = g.allIDs()
	return in
}

// eachKept calls yield with each run of rows that are kept, and the number of its source, until it
// returns false.
func (g *gathered) eachKept(yield func(source int, row, n uint64) bool) {
	more := true
	each := func(i int, rows uint64) {
		g.kept[i].Runs(0, rows, func(row, n uint64) bool {
			more = yield(i, row, n)
			return more
		})
	}
	for i := 0; i < len(g.segments) && more; i++ {
		each(i, g.segments[i].Documents())
	}
	for i := 0; i < len(g.memtables) && more; i++ {
		each(len(g.segments)+i, uint64(g.memtables[i].Len()))
	}
}

// allIDs yields the IDs of the documents in order; it is nil where they have none.
func (g *gathered) allIDs() iter.Seq2[string, error] {
	switch {
	case !g.ids:
		return nil
	case g.whole != nil:
		return g.whole.IDs
	}
	return func(yield func(string, error) bool) {
		of := make([]func(row uint64) (string, error), 0, len(g.kept))
		for _, s := range g.segments {
			of = append(of, s.Segment.IDs().Cursor().ID)
		}
		for _, m := range g.memtables {
			of = append(of, func(row uint64) (string, error) { return m.ID(int(row)), nil })
		}
		g.eachKept(func(source int, row, n uint64) bool {
			for end := row + n; row < end; row++ {
				if !yield(of[source](row)) {
					return false
				}
			}
			return true
		})
	}
}

// allSketches yields the documents' sketches in order, a thousand at a time: the zero sketch where
// there is none.
func (g *gathered) allSketches(yield func([]sketch.Sketch) bool) {
	if g.whole != nil {
		g.whole.sketches(yield)
		return
	}
	list := make([]sketch.Sketch, 0, 1<<10)
	g.eachKept(func(source int, row, n uint64) bool {
		for end := row + n; row < end; row++ {
			if len(list) == cap(list) {
				if !yield(list) {
					return false
				}
				list = list[:0]
			}
			list = append(list, g.sketch(source, row))
		}
		return true
	})
	if len(list) > 0 {
		yield(list)
	}
}

// sketch returns the sketch of a row of a source.
func (g *gathered) sketch(source int, row uint64) (s sketch.Sketch) {
	if source < len(g.segments) {
		if list := g.segments[source].Sketches; list != nil {
			s = list[row]
		}
	} else if p := g.memtables[source-len(g.segments)].Sketch(int(row)); p != nil {
		s = *p
	}
	return s
}

// hand copies deletions made meanwhile to the new segment, and returns the deleted documents.
// The caller holds writer.mu.
func (g *gathered) hand(to *version.Segment) (late []rows.DocID) {
	give := func(doc rows.DocID, d rows.Deletion) {
		if _, ok := to.Numbers.Row(doc); ok && to.Dead.Add(doc, d) {
			late = append(late, doc)
		}
	}
	for _, s := range g.segments {
		s.Dead.Each(give)
	}
	for _, m := range g.memtables {
		m.Dead.Each(give)
	}
	return late
}

// gatherBytes returns how much memory is held of segments while they are merged: which of their
// documents are kept, and the numbers of these, which have a gap at most for each deletion and for
// each run of documents that expire. A few gaps are not counted.
func gatherBytes(segments []*version.Segment, now rows.Time) (bytes uint64) {
	const gapBytes, few = 16, 16 << 10
	for _, s := range segments {
		if n := s.Numbers.Bytes() + s.Expires.Bytes(); n > few {
			bytes += n
		}
		if s.MayHide(now) {
			bytes += segment.SourceBytes(s.Documents()) + gapBytes*s.Dead.Len() + s.Expires.Bytes()
		}
	}
	return bytes
}

// toFile writes a segment of about that many bytes and the file beside it, and opens them.
func (u *upkeep) toFile(ctx context.Context, g *gathered, dead []rows.DocID, bytes uint64,
	o segment.Options) (made *version.Segment, entry ManifestSegment, err error) {
	f := u.folder
	f.mu.Lock()
	number, generation := f.files, f.manifest.Generation
	f.files++
	f.mu.Unlock()
	path := filepath.Join(f.dir, fmt.Sprintf("%08d.segment", number))
	beside := filepath.Join(f.dir, fmt.Sprintf("%08d.documents", number))
	sketches := filepath.Join(f.dir, fmt.Sprintf("%08d.sketches", number))
	defer func() {
		if err != nil { // no manifest names them
			for _, p := range []string{path, beside, sketches} {
				f.disk.Remove(p)
			}
		}
	}()
	files := f.options()
	files.Bytes = bytes
	if entry, err = writeSegment(ctx, path, generation, files, g.input(), o); err != nil {
		return nil, entry, err
	}
	b, err := u.writeBeside(beside, generation, entry.ID, g, dead)
	if err != nil {
		return nil, entry, err
	}
	entry.Beside = &b
	if g.sketches {
		file, err := writeSketches(sketches, generation, files, entry.ID, entry.Documents, g.allSketches)
		if err != nil {
			return nil, entry, err
		}
		entry.Sketches = &file
	}
	one := &Manifest{K: u.config.Design.K, Segments: []ManifestSegment{entry}, Generation: generation}
	made, err = one.openSegment(f.disk, f.dir, 0, g.from, one.mapper(f.disk))
	if err != nil {
		return nil, entry, err
	}
	made.From = g.from
	if err = made.Warm(); err == nil && u.workers != nil && f.durable() {
		err = place(ctx, u.workers, made)
	}
	if err != nil {
		made.Close()
		return nil, entry, err
	}
	f.owns(made)
	return made, entry, nil
}

// writeBeside writes the file beside a segment, for the manifest to name.
func (u *upkeep) writeBeside(path string, generation uint64, of string, g *gathered,
	dead []rows.DocID) (ManifestFile, error) {
	w, err := writeDocuments(path, generation, u.folder.options(), of, documents{numbers: g.numbers, expires: g.expires,
		tombstones: dead}, &u.key, g.allIDs())
	if err != nil {
		return ManifestFile{}, err
	}
	return generations.EntryOf(w, path), nil
}

// reserveFiles reserves the memory for writing a file of the given size, in addition to beside, and
// checks that the disk has room for it and for sorted keys. It sets o.Budget to the part for the
// segment; the index of IDs is made in the same memory afterwards. In memory it reserves the file,
// too, and nothing if all of that fits into room, which is held.
func (u *upkeep) reserveFiles(docs, bytes, beside, room uint64, o *segment.Options) (*memory.Reservation, error) {
	budget := u.config.Budget.OrMachine()
	what := fmt.Sprintf("merging %s documents", humanize.Comma(int64(docs)))
	ids := uint64(0)
	if u.config.IDs {
		ids = rows.IDIndexBytes(docs)
	}
	if !u.folder.durable() {
		need := segment.NeedBytes(docs, *o) + bytes + 2*ids + beside
		if o.Budget = nil; need <= room {
			return nil, nil
		}
		return budget.Reserve(what, need)
	}
	reserved, err := budget.Reserve(what, beside)
	if err != nil {
		return nil, err
	}
	if o.Budget = budget; 0 < beside && beside <= docs*spareBytes {
		o.MemoryTarget = segment.NeedBytes(docs, *o) - beside
	}
	plan, err := segment.NewPlan(docs, *o)
	o.MemoryTarget = plan.Bytes
	writing := max(plan.Bytes, ids)
	if err == nil {
		err = reserved.Resize(what, beside+writing)
	}
	if err != nil {
		reserved.Release()
		return nil, err
	}
	o.Budget = memory.NewBudget(memory.Set(writing))
	need := bytes + ids
	if plan.External {
		need += 8 * docs
	}
	if free, ok := u.folder.disk.FreeBytes(u.folder.dir); ok && free < need {
		reserved.Release()
		return nil, fmt.Errorf("%s: merging %s documents needs %s on the disk, and there are %s", u.folder.dir,
			humanize.Comma(int64(docs)), humanize.IBytes(need), humanize.IBytes(free))
	}
	if u.config.Planned != nil {
		u.config.Planned(docs, beside+writing)
	}
	return reserved, nil
}

// spareBytes a document are what writing a segment can do without at the price of a second or third
// more of reading.
const spareBytes = 2

// A segment is merged with all behind it when these have outgrown it: when they have more than five
// thirds of its documents. So the documents of segments fall off from the first to the last, of
// which there are log n, and each document is written about as often as there are segments: 3.8
// times for a hundred flushes, which leave seven segments at most and four on average. What an
// index was built of is written again only by inserts that outgrow it.
//
//	1 1 + 1 -> 3      3 1 1 + 1 -> 3 3      3 3 1 1 + 1 -> 9      100 9 1 + 1 stays
const (
	outgrownBy = 5
	outgrown   = 3
	// mergedLeast are worth a merge, or one more where they have fewDocs together: who adds a few
	// documents now and then finds a merge each time otherwise.
	mergedLeast = 3
	fewDocs     = 1 << 16
)

// goneMin documents or fewer that are gone are not worth a merge.
const goneMin = 4096

// pick returns the segments to merge next: neighbours that may all be merged, of which the first is
// outgrown by the others; or one of which a quarter is deleted or has expired; nothing when all is
// well.
func pick(segments []*version.Segment, now rows.Time) []*version.Segment {
	sizes := make([]uint64, len(segments))
	for i, s := range segments {
		if s.Owned && !s.Busy {
			sizes[i] = max(s.Live(now), 1)
		}
	}
	if begin, end := pickOutgrown(sizes); begin < end {
		return segments[begin:end]
	}
	i := slices.IndexFunc(segments, func(s *version.Segment) bool {
		gone := s.Documents() - s.Live(now)
		return s.Owned && !s.Busy && gone > goneMin && 4*gone >= s.Documents()
	})
	if i < 0 {
		return nil
	}
	return segments[i : i+1]
}

// neverMerged stands for the size of what may not be merged.
const neverMerged = 0

// pickOutgrown returns which neighbours are to be merged, by their sizes, the last ones first; none
// where both are equal.
func pickOutgrown(sizes []uint64) (begin, end int) {
	for end := len(sizes); end > 0; end-- {
		begin, behind := end, uint64(0)
		from := end
		for ; from > 0 && sizes[from-1] != neverMerged; from-- {
			size, least := sizes[from-1], mergedLeast
			if behind+size <= fewDocs {
				least++
			}
			if outgrown*behind > outgrownBy*size && end-from+1 >= least {
				begin = from - 1
			}
			behind += size
		}
		if begin < end {
			return begin, end
		}
		end = from
	}
	return 0, 0
}

// A query searches all segments, and each takes it a pass of probes however small it is. So a
// segment that is small beside the index has more tables of fewer probes, where the cost model says
// that they take less time: for k = 3, four tables that are each searched for one exact quarter of
// the bits, with a few dozen candidates, instead of two with one probe for each bit of a half. That
// is twice the bytes for it, and so for an eighth of the documents or a few times that. What holds
// more of them has the index's design, as building makes it. Readers need not know: each segment
// says what its tables are.
const (
	smallShare = 8    // of the documents a small segment holds one in so many at most
	smallBytes = 2.25 // times the bytes of the index's design, at most
	smallTime  = 0.85 // of the time that the index's design takes, at most
)

// documents returns how many documents the index has, deleted ones among them.
func (w *writer) documents() uint64 {
	if v := w.versions.Current(); v != nil {
		return v.Documents()
	}
	return 0
}

// designOf returns the design of a segment with docs of all documents of the index.
func (c *Config) designOf(docs, all uint64) permute.Design {
	if docs == 0 || docs > all/smallShare || c.Table.Layout != table.LayoutPlanar {
		return c.Design
	}
	isOwn := func(o plan.Option) bool { return slices.Equal(o.Design.Tables, c.Design.Tables) }
	r := plan.Request{Fingerprints: docs, K: c.Design.K, Layout: table.LayoutPlanar,
		Designs: append(permute.Catalogue(c.Design.K, c.Design.Seed), c.Design)}
	p, err := plan.New(context.Background(), r)
	if err != nil {
		return c.Design
	}
	own := p.Options[slices.IndexFunc(p.Options, isOwn)]
	best := own
	for _, o := range p.Options {
		if o.Design.K == c.Design.K && float64(o.Bytes) <= smallBytes*float64(own.Bytes) && o.OnlineNS < best.OnlineNS {
			best = o
		}
	}
	if best.OnlineNS > smallTime*own.OnlineNS {
		return c.Design
	}
	return best.Design
}
