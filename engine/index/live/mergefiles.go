package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
)

// tendSegments merges segments until the index is closed. For want of memory or of room on
// the disk it waits; no insert fails for that.
func (x *Index) tendSegments() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.group.Go(func() {
		<-x.stop
		cancel()
	})
	for {
		select {
		case <-x.stop:
			return
		case <-x.merges:
		}
		for {
			more, err := x.mergePicked(ctx)
			if err != nil && !x.pause() || err == nil && !more {
				break
			}
		}
	}
}

func (x *Index) mergePicked(ctx context.Context) (more bool, err error) {
	if x.folder == nil {
		return x.mergeInMemory()
	}
	x.merging.Lock()
	defer x.merging.Unlock()
	x.writer.mu.Lock()
	v := x.current.Load()
	if v == nil {
		x.writer.mu.Unlock()
		return false, nil
	}
	picked := pick(v.segments, x.wall.now(), (*Segment).mergesInFiles)
	mark(picked, true)
	x.writer.mu.Unlock()
	if len(picked) == 0 {
		return false, nil
	}
	return true, x.mergeFiles(ctx, picked, 1)
}

// mergesInFiles reports whether a segment may be merged with others that are in files.
func (s *Segment) mergesInFiles() bool { return s.file != nil && !s.busy }

// Merge makes one segment of all documents, without those that are deleted. It waits for a merge in
// the background.
func (x *Index) Merge(ctx context.Context, threads int) error {
	if x.folder == nil {
		return errors.New("an index in memory merges by itself")
	}
	if err := x.flush(ctx); err != nil {
		return err
	}
	x.merging.Lock() // a merge in the background ends first
	defer x.merging.Unlock()
	x.writer.mu.Lock()
	v := x.current.Load()
	if v == nil {
		x.writer.mu.Unlock()
		return ErrClosed
	}
	var all []*Segment
	for _, s := range v.segments {
		if s.file == nil {
			continue // it came meanwhile
		}
		all = append(all, s)
	}
	if len(all) == 0 || len(all) == 1 && !all[0].mayHide(x.wall.now()) && slices.Equal(all[0].Design().Tables, x.config.Design.Tables) {
		x.writer.mu.Unlock()
		return nil
	}
	mark(all, true)
	x.writer.mu.Unlock()
	return x.mergeFiles(ctx, all, threads)
}

// mergeFiles makes one segment of several that follow one another and are marked busy.
func (x *Index) mergeFiles(ctx context.Context, segments []*Segment, threads int) (err error) {
	defer func() {
		if err != nil {
			x.writer.mu.Lock()
			mark(segments, false)
			x.writer.mu.Unlock()
		}
	}()
	docs, bytes, now := uint64(0), uint64(0), x.wall.now()
	for _, s := range segments {
		docs += s.live(now)
		bytes += s.file.Bytes()
	}
	o := x.fileOptions(threads, docs, x.documents())
	reserved, err := x.reserveFiles(docs, bytes, gatherBytes(segments, now), &o)
	if err != nil {
		return err
	}
	defer reserved.Release()
	refused := x.refused.Load()
	g, err := gather(segments, nil, &x.config, now)
	if err != nil {
		return err
	}
	defer g.free()
	if err := x.settled(refused); err != nil {
		return err
	}
	made, entry, err := x.toFile(ctx, g, g.older(), o)
	if err != nil {
		return err
	}
	x.folder.mu.Lock()
	defer x.folder.mu.Unlock()
	if err := x.folder.publish(func(m *Manifest) { m.replace(segments, entry) }); err != nil {
		made.close()
		return err
	}
	for _, s := range segments {
		s.dropped = true
	}
	x.put(g, made)
	return nil
}

// replace puts a segment in the place of others that follow one another.
func (m *Manifest) replace(segments []*Segment, by ManifestSegment) {
	at := -1
	for _, s := range segments {
		name := s.name()
		i := slices.IndexFunc(m.Segments, func(g ManifestSegment) bool { return g.File == name })
		if at < 0 {
			at = i
		}
		m.Segments = slices.Delete(m.Segments, i, i+1)
	}
	m.Segments = slices.Insert(m.Segments, at, by)
}

// older returns the deletions, among those that stand beside the segments, of documents before them.
func (g *gathered) older() (dead []DocID) {
	for _, s := range g.segments {
		if s.beside == nil {
			continue
		}
		for _, doc := range s.beside.tombstones {
			if doc < g.from {
				dead = append(dead, doc)
			}
		}
	}
	slices.Sort(dead)
	return slices.Compact(dead)
}

// reserveFiles reserves all the memory that a flush or a merge to a file of so many bytes takes, beside bytes of
// which the caller knows, and sees that the disk has room for that and for the file of sorted keys. It sets o.Budget to what is
// reserved for writing the segment, which takes so much less than building does. The index of its IDs is made behind that, where it was.
func (x *Index) reserveFiles(docs, bytes, beside uint64, o *segment.Options) (*memory.Reservation, error) {
	budget := x.config.Budget.Here()
	what := fmt.Sprintf("merging %s documents", humanize.Comma(int64(docs)))
	reserved, err := budget.Reserve(what, beside)
	if err != nil {
		return nil, err
	}
	if o.Budget = budget; 0 < beside && beside <= docs*spareBytes {
		o.Most = segment.NeedBytes(docs, *o) - beside
	}
	plan, err := segment.NewPlan(docs, *o)
	o.Most = plan.Bytes
	writing := plan.Bytes
	if x.config.IDs {
		writing = max(writing, 8*idIndexLen(docs))
	}
	if err == nil {
		err = reserved.Resize(what, beside+writing)
	}
	if err != nil {
		reserved.Release()
		return nil, err
	}
	o.Budget = memory.NewBudget(memory.Set(writing))
	need := bytes
	if plan.External {
		need += 8 * docs
	}
	if x.config.IDs {
		need += 8 * idIndexLen(docs)
	}
	if free, ok := freeBytes(x.folder.dir); ok && free < need {
		reserved.Release()
		return nil, fmt.Errorf("%s: merging %s documents needs %s on the disk, and there are %s", x.folder.dir,
			humanize.Comma(int64(docs)), humanize.IBytes(need), humanize.IBytes(free))
	}
	if x.config.planned != nil {
		x.config.planned(docs, beside+writing)
	}
	return reserved, nil
}

// spareBytes a document are what writing a segment can do without at the price of a second or third more of reading.
const spareBytes = 2

// gatherBytes returns how much memory is held of segments while they are merged: which of their documents are kept, and the
// numbers of these, which have a gap at most for each deletion and for each run of documents that expire. A few gaps are not counted.
func gatherBytes(segments []*Segment, now moment) (bytes uint64) {
	const runBytes, few = 16, 1 << 10
	for _, s := range segments {
		if n := len(s.numbers.rows) + len(s.expires.rows); n > few {
			bytes += runBytes * uint64(n)
		}
		if s.mayHide(now) {
			bytes += segment.SourceBytes(s.Documents()) + runBytes*(s.dead.len()+uint64(len(s.expires.rows)))
		}
	}
	return bytes
}
