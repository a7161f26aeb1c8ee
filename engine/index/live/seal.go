package live

import (
	"context"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// seal makes a segment in memory of the oldest memtable that is full, or of the one that takes inserts
// where memory is short.
func (x *Index) seal() error {
	x.flushing.Lock()
	defer x.flushing.Unlock()
	x.writer.mu.Lock()
	v := x.current.Load()
	if v == nil {
		x.writer.mu.Unlock()
		return ErrClosed
	}
	if len(v.memtables) == 1 {
		x.Apply(Edit{addMemtable: x.newMemtable(v.end())})
	}
	x.writer.mu.Unlock()
	if err := x.replaceInMemory(nil, v.memtables[:1]); err != nil {
		return err
	}
	x.wakeMerger()
	return nil
}

// pause waits a moment for what was lacking; it returns false when the index is closed.
func (x *Index) pause() bool {
	select {
	case <-x.stop:
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

// fail has inserts fail from now on: background work cannot go on for a reason that is no lack of
// room, which means that the index is damaged.
func (x *Index) fail(err error) {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	x.failed = err
	x.wakeWaiting()
}

// mergeInMemory merges segments in memory, if some are to be; it returns false when none are. For want
// of memory there are more segments: slower, and right.
func (x *Index) mergeInMemory() (bool, error) {
	x.merging.Lock()
	defer x.merging.Unlock()
	x.writer.mu.Lock()
	v := x.current.Load()
	if v == nil || x.short != nil { // memory is for what must go on
		x.writer.mu.Unlock()
		return false, nil
	}
	picked := pick(v.segments, x.wall.now(), (*Segment).mergesInMemory)
	mark(picked, true)
	x.writer.mu.Unlock()
	if len(picked) == 0 {
		return false, nil
	}
	err := x.replaceInMemory(picked, nil)
	if err != nil {
		x.writer.mu.Lock()
		mark(picked, false)
		x.writer.mu.Unlock()
	}
	return err == nil, err
}

// mergesInMemory reports whether a segment may be merged with others that are in memory.
func (s *Segment) mergesInMemory() bool { return s.file == nil && s.workers == nil && !s.busy }

// mark says of segments that they are being merged, or no longer. It needs x.mu.
func mark(segments []*Segment, busy bool) {
	for _, s := range segments {
		s.busy = busy
	}
}

// replaceInMemory makes a segment in memory, of the design that is due to its size and of the index's layout, of segments that
// follow one another and of the memtables behind them, and puts it in their place. The error wraps
// [memory.ErrTooLarge] when memory will not do; then nothing has changed.
func (x *Index) replaceInMemory(segments []*Segment, memtables []*memtable) error {
	now := x.wall.now()
	docs, beside := 0, gatherBytes(segments, now)
	for _, s := range segments {
		docs += int(s.Documents())
	}
	for _, m := range memtables {
		docs += m.len()
		beside += 8 * uint64(m.len())
	}
	room := uint64(0)
	if segments == nil {
		room = x.sealRoom()
	}
	o := segment.Options{Design: x.config.designOf(uint64(docs), x.documents()), Table: x.config.Table, Threads: 1}
	reserved, err := reserveMerge(docs, beside+idBytes(segments, memtables)*5/2, room, o, x.config.Budget)
	if err != nil {
		return err
	}
	defer reserved.Release()
	g, err := gather(segments, memtables, &x.config, now)
	if err != nil {
		return err
	}
	defer g.free()
	made, err := x.toMemory(g, o)
	if err != nil {
		return err
	}
	x.put(g, made)
	return nil
}

// idBytes returns how many bytes the IDs of segments in memory and of memtables take.
func idBytes(segments []*Segment, memtables []*memtable) (bytes uint64) {
	for _, s := range segments {
		if list := s.Segment.IDs(); list != nil {
			bytes += list.Bytes()
		}
	}
	for _, m := range memtables {
		bytes += m.ids.bytes()
	}
	return bytes
}

// put replaces what was gathered by the segment that was made of it.
func (x *Index) put(g *gathered, made *Segment) {
	x.writer.mu.Lock() // against inserts, which add memtables, and deletions
	defer x.writer.mu.Unlock()
	defer x.wakeWaiting()
	late := g.hand(made)
	if made.file != nil {
		x.deleted = append(x.deleted, late...)
	}
	if g.whole != nil {
		x.added.Add(1)
	}
	e := Edit{Remove: g.segments, removeMemtables: g.memtables}
	if made.Documents() > 0 || made.beside != nil {
		e.Add = []*Segment{made}
	} else {
		defer made.close()
	}
	x.Apply(e) // an error would be one of giving back what was replaced
}

// toMemory makes a segment in memory.
func (x *Index) toMemory(g *gathered, o segment.Options) (_ *Segment, err error) {
	arena := new(store.Arena)
	made := &Segment{numbers: g.numbers, expires: g.expires, from: g.from}
	var held *heldIDs
	defer func() {
		if err != nil {
			held.free()
			arena.Free()
		}
	}()
	if err := segment.Write(context.Background(), arena, g.input(), o); err != nil {
		return nil, err
	}
	source, err := arena.Source()
	if err != nil {
		return nil, err
	}
	if g.ids {
		if held, err = indexIDs(&x.key, g.numbers.n, g.allIDs()); err != nil {
			return nil, err
		}
		made.ids = held.idIndex
	}
	if made.Segment, err = segment.Open(source); err != nil {
		return nil, err
	}
	if err := made.Segment.Warm(); err != nil {
		return nil, err
	}
	made.bytes = arena.Bytes() + 8*uint64(len(made.ids.slots))
	made.free = func() error {
		held.free()
		arena.Free()
		return nil
	}
	return made, nil
}

// reserveMerge reserves the memory that a merge of so many documents takes: what the
// builder takes, and the new segment, of at most 10 bytes a document and table, and twice while a
// section of it grows; and so many bytes beside it: what is gathered, and two and a half times what its IDs take now. Of what fits
// into room nothing is counted.
func reserveMerge(docs int, beside, room uint64, o segment.Options, b *memory.Budget) (*memory.Reservation, error) {
	need := segment.NeedBytes(uint64(docs), o) + uint64(docs)*(8+10*uint64(len(o.Design.Tables)+1)) + beside
	if need <= room {
		return nil, nil
	}
	return b.Here().Reserve("merging "+humanize.Comma(int64(docs))+" documents", need)
}
