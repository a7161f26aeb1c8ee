package live

import (
	"context"
	"errors"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// sealDocs is up to how many documents the sealer merges what it has sealed: some milliseconds, for
// which the memtables that wait have room. Larger segments are merged beside it, which may take
// seconds.
const sealDocs = 16 * memtableDocs

// seal turns full memtables into segments in memory until the index is closed.
func (x *Index) seal() {
	for {
		select {
		case <-x.stop:
			return
		case <-x.seals:
		}
		for {
			x.sealing.Lock()
			more, err := x.sealOldest()
			x.sealing.Unlock()
			if errors.Is(err, memory.ErrTooLarge) { // whoever inserts waits
				if !x.pause() {
					return
				}
				continue
			}
			if err != nil {
				x.fail(err)
				return
			}
			if !more {
				break
			}
		}
	}
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

// sealOldest makes a segment of the oldest full memtable, and merges small segments in memory where
// that makes four. It returns false when only the newest memtable is left. It needs x.sealing.
func (x *Index) sealOldest() (bool, error) {
	v := x.current.Load() // memtables leave it under x.sealing only
	if v == nil || len(v.memtables) < 2 {
		return false, nil
	}
	if err := x.replaceInMemory(nil, v.memtables[:1]); err != nil {
		return true, err
	}
	for {
		more, err := x.mergeInMemory((*Segment).mergesSmall)
		if errors.Is(err, memory.ErrTooLarge) { // more segments are slower, and right
			more, err = false, nil
		}
		if !more || err != nil {
			x.wakeFlusher()
			return true, err
		}
	}
}

// mergeInMemory merges segments in memory of those that may be, if some are to be; it returns false
// when none are.
func (x *Index) mergeInMemory(may func(*Segment) bool) (bool, error) {
	x.writer.mu.Lock()
	v := x.current.Load()
	if v == nil || x.short != nil { // memory is for what must go on
		x.writer.mu.Unlock()
		return false, nil
	}
	picked := pick(v.segments, memtableDocs, x.wall.now(), may)
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
	return true, err
}

// mergesSmall reports whether the sealer merges a segment with others, mergesLarge whether the
// goroutine behind it does.
func (s *Segment) mergesSmall() bool { return s.mergesInMemory() && s.Documents() <= sealDocs/fanout }
func (s *Segment) mergesLarge() bool { return s.mergesInMemory() && s.Documents() > sealDocs/fanout }

// mergesInMemory reports whether a segment may be merged with others that are in memory.
func (s *Segment) mergesInMemory() bool { return s.file == nil && s.workers == nil && !s.busy }

// mark says of segments that they are being merged, or no longer. It needs x.mu.
func mark(segments []*Segment, busy bool) {
	for _, s := range segments {
		s.busy = busy
	}
}

// replaceInMemory makes a segment in memory, of the index's design and layout, of segments that
// follow one another and of the memtables behind them, and puts it in their place. The error wraps
// [memory.ErrTooLarge] when memory will not do; then nothing has changed.
func (x *Index) replaceInMemory(segments []*Segment, memtables []*memtable) error {
	docs := 0
	for _, s := range segments {
		docs += int(s.Documents())
	}
	for _, m := range memtables {
		docs += m.len()
	}
	o := segment.Options{Design: x.config.Design, Table: x.config.Table, Threads: 1}
	reserved, err := reserveMerge(docs, idBytes(segments, memtables), o, x.config.Budget)
	if err != nil {
		return err
	}
	defer reserved.Release()
	return x.replace(segments, memtables, o)
}

// replace is [Index.replaceInMemory], whose memory is reserved.
func (x *Index) replace(segments []*Segment, memtables []*memtable, o segment.Options) error {
	g, err := gather(segments, memtables, &x.config, x.wall.now())
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
		bytes += uint64(m.idBytes)
	}
	return bytes
}

// put replaces what was gathered by the segment that was made of it.
func (x *Index) put(g *gathered, made *Segment) {
	x.writer.mu.Lock() // against inserts, which add memtables, and deletions
	defer x.writer.mu.Unlock()
	defer x.wakeWaiting()
	defer x.wakeSealer()
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
	made.bytes = arena.Bytes() + 8*uint64(len(made.ids.slots))
	made.free = func() error {
		held.free()
		arena.Free()
		return nil
	}
	return made, nil
}

// reserveMerge reserves the memory that a merge of so many documents takes: the rows, what the
// builder takes, and the new segment, of at most 10 bytes a document and table, and twice while a
// section of it grows; and two and a half times what its IDs take now. Of small merges nothing is
// counted: [sealBytes] are there for them.
func reserveMerge(docs int, ids uint64, o segment.Options, b *memory.Budget) (*memory.Reservation, error) {
	const small, smallIDs = 64 * memtableDocs, 2 * memtableIDBytes
	if docs <= small && ids <= smallIDs {
		return nil, nil
	}
	need := segment.NeedBytes(uint64(docs), o) + uint64(docs)*(8+8+10*uint64(len(o.Design.Tables)+1)) + ids*5/2
	return b.Here().Reserve("merging "+humanize.Comma(int64(docs))+" documents", need)
}
