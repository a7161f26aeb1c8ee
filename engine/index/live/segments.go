package live

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/permute"
)

// An upkeep flushes memtables to segments, merges segments and drops expired ones, in the background and on request.
// Its locks are taken before all others, and never together.
type upkeep struct {
	*indexState
	writer   *writer
	group    sync.WaitGroup // goroutines that start starts
	flushing sync.Mutex     // held while memtables become a segment
	merging  sync.Mutex     // held during a merge
}

// A newSegment is what the files of a new segment contain.
type newSegment struct {
	input                // its fingerprints, IDs and sketches
	documents            // its document numbers, and the deletions of earlier documents
	first     rows.DocID // at most its first document
}

// mergeInput holds the live documents of consecutive segments or memtables: the input of the segment that replaces
// them. Building a segment of the same documents gives the same segment. Of segments it holds only the rows to copy,
// and reads the rest when the new segment is written. Of memtables it holds the fingerprints.
type mergeInput struct {
	newSegment
	segments     []*version.Segment
	memtables    []*memtable.Table
	kept         []*segment.RowSet      // rows to copy of each segment and then of each memtable; nil means all
	fingerprints *memory.Buffer[uint64] // fingerprints of memtables, in the order of documents
}

// gather returns the live documents of segments, or of memtables that no longer grow. Their numbers begin with first or
// later.
func gather(segments []*version.Segment, memtables []*memtable.Table, first rows.DocID, c *Config,
	now rows.Time) (*mergeInput, error) {
	g := &mergeInput{segments: segments, memtables: memtables}
	g.first = first
	// Describe the visible rows of segments.
	for _, s := range segments {
		g.keep(&s.Numbers, &s.Expires, &s.Tombstones, now)
		g.Sources = append(g.Sources, segment.Source{Segment: s.Segment, Rows: g.kept[len(g.kept)-1]})
	}
	// Copy the visible fingerprints of the memtables.
	docs := 0
	for _, m := range memtables {
		docs += m.Len()
	}
	var err error
	if g.fingerprints, err = memory.Make[uint64](docs); err != nil {
		return nil, err
	}
	offset := 0
	for _, m := range memtables {
		dst := g.fingerprints.Data[offset:][:m.Len()]
		m.EachPage(0, m.Len(), func(row int, fingerprints []uint64) bool {
			copy(dst[row:], fingerprints)
			return true
		})
		numbers, expires := rows.NewNumbers(m.First, uint64(m.Len())), m.Expiries()
		for row, n := range g.keep(&numbers, &expires, &m.Tombstones, now) {
			offset += copy(g.fingerprints.Data[offset:], dst[row:][:n])
		}
	}
	g.Fingerprints = g.fingerprints.Data[:offset]
	// IDs and sketches are read when they are written.
	if c.IDs {
		g.IDs = g.eachID
	}
	if c.Sketches && (len(segments) == 0 ||
		slices.ContainsFunc(segments, func(s *version.Segment) bool { return s.Sketches != nil })) {
		g.sketches = g.eachSketch
	}
	return g, nil
}

// keep appends the numbers and expiry of the live rows of a source, and returns runs of these rows.
func (g *mergeInput) keep(numbers *rows.Numbers, expires *rows.Expiries, deleted *rows.Tombstones,
	now rows.Time) iter.Seq2[uint64, uint64] {
	set := visible(numbers, expires, deleted, now)
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

// visible returns the rows of a source that a reader who begins now sees, or nil if it sees all of them.
func visible(numbers *rows.Numbers, expires *rows.Expiries, deleted *rows.Tombstones, now rows.Time) *segment.RowSet {
	if deleted.Len() == 0 && !expires.Any(now) {
		return nil
	}
	set := segment.NewRowSet(numbers.N)
	deleted.Each(func(doc rows.DocID, _ rows.Deletion) {
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

// eachKept calls yield with each run of rows to copy, and the number of its source, until yield returns false.
func (g *mergeInput) eachKept(yield func(source int, row, n uint64) bool) {
	ok := true
	emit := func(i int, rows uint64) {
		g.kept[i].Runs(0, rows, func(row, n uint64) bool {
			ok = yield(i, row, n)
			return ok
		})
	}
	for i := 0; i < len(g.segments) && ok; i++ {
		emit(i, g.segments[i].Documents())
	}
	for i := 0; i < len(g.memtables) && ok; i++ {
		emit(len(g.segments)+i, uint64(g.memtables[i].Len()))
	}
}

// eachID yields the IDs of the documents in order.
func (g *mergeInput) eachID(yield func(string, error) bool) {
	ids := make([]func(row uint64) (string, error), 0, len(g.kept))
	for _, s := range g.segments {
		ids = append(ids, s.Segment.IDs().Cursor().ID)
	}
	for _, m := range g.memtables {
		ids = append(ids, func(row uint64) (string, error) { return m.ID(int(row)), nil })
	}
	g.eachKept(func(source int, row, n uint64) bool {
		for end := row + n; row < end; row++ {
			if !yield(ids[source](row)) {
				return false
			}
		}
		return true
	})
}

// eachSketch yields the sketches of the documents in order, a thousand at a time. A document without a sketch has the
// zero sketch.
func (g *mergeInput) eachSketch(yield func([]sketch.Sketch) bool) {
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
func (g *mergeInput) sketch(source int, row uint64) (s sketch.Sketch) {
	if source < len(g.segments) {
		if list := g.segments[source].Sketches; list != nil {
			s = list[row]
		}
	} else if p := g.memtables[source-len(g.segments)].Sketch(int(row)); p != nil {
		s = *p
	}
	return s
}

// handDeletions copies the deletions in the parts that an edit removes to the segment that replaces them, and returns
// the deleted documents. The caller holds writer.mu.
func handDeletions(e version.Edit, target *version.Segment) (deleted []rows.DocID) {
	give := func(doc rows.DocID, d rows.Deletion) {
		if _, ok := target.Numbers.Row(doc); ok && target.Tombstones.Add(doc, d) {
			deleted = append(deleted, doc)
		}
	}
	for _, s := range e.Remove {
		s.Tombstones.Each(give)
	}
	for _, m := range e.RemoveMemtables {
		m.Tombstones.Each(give)
	}
	return deleted
}

// gatherBytes returns the memory of a merge's input: the rows to copy and their numbers, with at most one gap for each
// deletion and each run of documents that expire. It does not count a few gaps.
func gatherBytes(segments []*version.Segment, now rows.Time) (bytes uint64) {
	const gapBytes, overhead = 16, 16 << 10
	for _, s := range segments {
		if n := s.Numbers.Bytes() + s.Expires.Bytes(); n > overhead {
			bytes += n
		}
		if s.MayHide(now) {
			bytes += segment.SourceBytes(s.Documents()) + gapBytes*s.Tombstones.Len() + s.Expires.Bytes()
		}
	}
	return bytes
}

// makeSegment makes a segment of about the given size, which replaces what e removes: in the manifest, by edit, and in
// the index.
func (u *upkeep) makeSegment(ctx context.Context, c *newSegment, e version.Edit, bytes uint64, o segment.Options,
	edit func(*Manifest, ManifestSegment)) error {
	s, entry, err := u.toFile(ctx, c, bytes, o)
	if err != nil {
		return err
	}
	return u.install(e, s, func(m *Manifest) { edit(m, entry) })
}

// toFile writes the files of a segment of about the given size, and opens them.
func (u *upkeep) toFile(ctx context.Context, c *newSegment, bytes uint64, o segment.Options) (result *version.Segment,
	entry ManifestSegment, err error) {
	f := u.folder
	// Choose the names of the files.
	f.mu.Lock()
	number, generation := f.files, f.manifest.Generation
	f.files++
	f.mu.Unlock()
	base := filepath.Join(f.dir, fmt.Sprintf("%08d", number))
	defer func() {
		if err != nil { // no manifest names them
			for _, ending := range []string{".segment", ".documents", ".sketches"} {
				f.disk.Remove(base + ending)
			}
		}
	}()
	// Write the segment, its documents and its sketches.
	files := f.options()
	files.Bytes = bytes
	if entry, err = writeSegment(ctx, base, generation, files, c.input, o); err != nil {
		return nil, entry, err
	}
	file, err := writeDocuments(base+".documents", generation, f.options(), entry.ID, c.documents, &u.key, c.IDs)
	if err != nil {
		return nil, entry, err
	}
	entry.DocsFile = &file
	// Open them as a reader does.
	manifest := &Manifest{K: u.config.Design.K, Segments: []ManifestSegment{entry}, Generation: generation}
	result, err = manifest.openSegment(f.disk, f.dir, 0, c.first, manifest.mapper(f.disk))
	if err != nil {
		return nil, entry, err
	}
	result.FirstDoc = c.first
	if err = result.Warm(); err == nil && u.workers != nil && f.durable() {
		err = place(ctx, u.workers, result)
	}
	if err != nil {
		result.Close()
		return nil, entry, err
	}
	f.owns(result)
	return result, entry, nil
}

// reserveFiles reserves the memory for the input and for writing the files of a rewrite. It checks that the disk has
// space for them and for sorted keys. It sets o.Budget to the memory for the segment; the index of IDs uses the same
// memory afterwards. For an index in memory it also reserves the files, and nothing if all of that fits into w.spare.
func (u *upkeep) reserveFiles(w *rewrite, o *segment.Options) (*memory.Reservation, error) {
	// An index in memory also holds the new files in memory.
	budget := u.config.Budget.OrMachine()
	task := fmt.Sprintf("merging %s documents", humanize.Comma(int64(w.docs)))
	ids := uint64(0)
	if u.config.IDs {
		ids = rows.IDIndexBytes(w.docs)
	}
	if !u.folder.durable() {
		need := segment.NeedBytes(w.docs, *o) + w.bytes + 2*ids + w.inputBytes
		if o.Budget = nil; need <= w.spare {
			return nil, nil
		}
		return budget.Reserve(task, need)
	}
	// Plan the writing with the memory that is left.
	reservation, err := budget.Reserve(task, w.inputBytes)
	if err != nil {
		return nil, err
	}
	if o.Budget = budget; 0 < w.inputBytes && w.inputBytes <= w.docs*spareBytes {
		o.MemoryTarget = segment.NeedBytes(w.docs, *o) - w.inputBytes
	}
	plan, err := segment.NewPlan(w.docs, *o)
	o.MemoryTarget = plan.Bytes
	fileBytes := max(plan.Bytes, ids)
	if err == nil {
		err = reservation.Resize(task, w.inputBytes+fileBytes)
	}
	if err != nil {
		reservation.Release()
		return nil, err
	}
	// Check the space on the disk.
	o.Budget = memory.NewBudget(memory.Set(fileBytes))
	need := w.bytes + ids
	if plan.External {
		need += 8 * w.docs
	}
	if free, ok := disk.FreeBytes(u.folder.dir); ok && free < need {
		reservation.Release()
		return nil, fmt.Errorf("%s: merging %s documents needs %s on the disk, and %s are free", u.folder.dir,
			humanize.Comma(int64(w.docs)), humanize.IBytes(need), humanize.IBytes(free))
	}
	if u.config.Planned != nil {
		u.config.Planned(w.docs, w.inputBytes+fileBytes)
	}
	return reservation, nil
}

// spareBytes is the memory per document that writing a segment can save, if it reads half or a third more.
const spareBytes = 2

// A segment is merged with all following ones when these have more than five thirds of its documents. So the sizes of
// segments fall from the first to the last, there are log n segments, and each document is written about as often: 3.8
// times for a hundred flushes, which leave at most seven segments and four on average. The segment of a build is
// written again only if inserts outgrow it.
//
//	1 1 + 1 -> 3      3 1 1 + 1 -> 3 3      3 3 1 1 + 1 -> 9      100 9 1 + 1 stays
const (
	outgrownBy = 5
	outgrown   = 3
	// mergeMin is the minimum number of segments of a merge. It is one more if they have at most fewDocs together;
	// otherwise each small insert would cause a merge.
	mergeMin = 3
	fewDocs  = 1 << 16
)

// goneMin is the maximum number of deleted or expired documents of a segment that do not justify a merge.
const goneMin = 4096

// pick returns the segments to merge next: one segment whose documents are all deleted or expired, consecutive segments
// that have outgrown the first of them, or one segment with a quarter of deleted or expired documents. It returns
// nothing if no merge is due.
func pick(segments []*version.Segment, now rows.Time) []*version.Segment {
	if i := slices.IndexFunc(segments, func(s *version.Segment) bool {
		return s.Owned && !s.Busy && s.Live(now) == 0 && (s.Documents() > 0 || len(s.Older) == 0)
	}); i >= 0 {
		return segments[i : i+1]
	}
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
		deleted := s.Documents() - s.Live(now)
		return s.Owned && !s.Busy && deleted > goneMin && 4*deleted >= s.Documents()
	})
	if i < 0 {
		return nil
	}
	return segments[i : i+1]
}

// neverMerged is the size of segments that may not be merged.
const neverMerged = 0

// pickOutgrown returns the range of segments to merge by their sizes, preferring the last ones. It is empty if there
// are none.
func pickOutgrown(sizes []uint64) (begin, end int) {
	for end := len(sizes); end > 0; end-- {
		begin, smaller := end, uint64(0)
		first := end
		for ; first > 0 && sizes[first-1] != neverMerged; first-- {
			size, minimum := sizes[first-1], mergeMin
			if smaller+size <= fewDocs {
				minimum++
			}
			if outgrown*smaller > outgrownBy*size && end-first+1 >= minimum {
				begin = first - 1
			}
			smaller += size
		}
		if begin < end {
			return begin, end
		}
		end = first
	}
	return 0, 0
}

// A query searches all segments, and even a small segment costs a pass of probes. So a segment that is small in
// relation to the index has more tables with fewer probes, if the cost model says that they are faster. For k = 3 these
// are four tables with one exact quarter of the bits and a few dozen candidates, instead of two tables with one probe
// for each bit of a half. That doubles the bytes of the segment, but it has at most an eighth of the documents. Larger
// segments have the index's design. Readers need not know: each segment names its tables.
const (
	smallShare = 8    // a small segment holds at most 1/smallShare of all documents
	smallBytes = 2.25 // maximum bytes, relative to the index's design
	smallTime  = 0.91 // maximum time of a single query and one of a batch, relative to the index's design
)

// designOf returns the design of a segment with docs documents, depending on its share of all documents.
func (c *Config) designOf(docs, fingerprints uint64) permute.Design {
	if docs == 0 || docs > fingerprints/smallShare || c.Table.Layout != table.LayoutPlanar {
		return c.Design
	}
	isOwn := func(o plan.Option) bool { return slices.Equal(o.Design.Tables, c.Design.Tables) }
	r := plan.Request{Fingerprints: docs, K: c.Design.K, Layout: table.LayoutPlanar,
		Designs: append(permute.Catalogue(c.Design.K, c.Design.Seed), c.Design)}
	p, err := plan.New(context.Background(), r)
	if err != nil {
		return c.Design
	}
	design := p.Options[slices.IndexFunc(p.Options, isOwn)]
	best, time := design, func(o plan.Option) float64 { return o.OnlineNS + o.BatchNS }
	for _, o := range p.Options {
		if o.Design.K == c.Design.K && float64(o.Bytes) <= smallBytes*float64(design.Bytes) && time(o) < time(best) {
			best = o
		}
	}
	if time(best) > smallTime*time(design) {
		return c.Design
	}
	return best.Design
}
