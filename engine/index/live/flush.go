package live

import (
	"context"
	"errors"
	"slices"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/wal"
)

// unflushedMax is how many times the documents of a memtable may be in some before inserts wait for
// what becomes of those.
const unflushedMax = 8

// tendMemory has full memtables become segments, in files where the index has some, until the index
// is closed.
func (x *Index) tendMemory() {
	for {
		select {
		case <-x.stop:
			return
		case <-x.flushes:
		}
		for x.tendMemoryOnce() {
		}
	}
}

// tendMemoryOnce does one piece of work; it returns false when there is none.
func (x *Index) tendMemoryOnce() bool {
	x.writer.mu.Lock()
	v := x.current.Load()
	due := v != nil && x.mustFlush(v)
	x.writer.mu.Unlock()
	switch {
	case !due:
		return false
	case x.folder != nil:
		return x.flush(context.Background()) == nil || x.pause()
	}
	err := x.seal()
	if err != nil && !errors.Is(err, memory.ErrTooLarge) {
		x.fail(err)
		return false
	}
	return err == nil || x.pause() // whoever inserts waits
}

// Flush writes what is in memory to a file, so that the log is empty, as far as it was inserted
// before the call. An index in memory has nothing to flush.
func (x *Index) Flush(ctx context.Context) error {
	if x.folder == nil {
		return nil
	}
	return x.flush(ctx)
}

// A flush is what is being moved from memory and the log to a file.
type flush struct {
	mark      wal.Mark
	next      DocID // number of the first document that it does not have
	memtables []*memtable
	deleted   []DocID // of documents that are in files
	refused   uint64  // changes that were taken back before
}

// flush makes one file of what is in memory:
//
//	freeze the memtable, rotate the log     write the segment      publish the manifest
//	                                        replace the memtables  remove the logs
//
// Inserts go on meanwhile, to new memtables and the new log. After an error all is in memory and in
// the log, as before.
func (x *Index) flush(ctx context.Context) error {
	x.flushing.Lock()
	defer x.flushing.Unlock()
	_, err := x.flushBefore(ctx, 0)
	return err
}

// flushBefore is flush, and leaves so many numbers out behind what it flushes, of which it returns
// the first. It needs x.flushing.
func (x *Index) flushBefore(ctx context.Context, gap uint64) (DocID, error) {
	f, err := x.beginFlush(gap)
	if err != nil {
		return 0, err
	}
	if len(f.memtables) == 0 && len(f.deleted) == 0 {
		return f.next, x.emptyLog(f)
	}
	if err := x.flushTo(ctx, f); err != nil {
		x.writer.mu.Lock()
		x.deleted = x.stillDeleted(append(f.deleted, x.deleted...))
		x.noteFlush(err)
		x.writer.mu.Unlock()
		return 0, err
	}
	x.writer.mu.Lock()
	x.noteFlush(nil)
	x.writer.mu.Unlock()
	x.wakeMerger()
	return f.next, x.log.Remove(f.mark)
}

// flushTries is how often a flush may lack memory, which merges give back when they end, before
// inserts that wait for it are refused: some seconds.
const flushTries = 100

// noteFlush has inserts that wait look again, or fail where a flush did. It needs x.mu.
func (x *Index) noteFlush(err error) {
	if !errors.Is(err, memory.ErrTooLarge) {
		x.flushesShort = 0
	} else if x.flushesShort++; x.flushesShort < flushTries {
		return
	}
	x.flushFailed = err
	x.wakeWaiting()
}

// beginFlush takes what is to be flushed: the memtables leave the index when they are a segment. It
// needs x.flushing.
func (x *Index) beginFlush(gap uint64) (f flush, err error) {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	v := x.current.Load()
	if v == nil {
		return f, ErrClosed
	}
	if f.mark, err = x.log.Rotate(); err != nil {
		return f, err
	}
	f.next, f.refused = v.end(), x.refused.Load()
	if f.memtables = v.memtables; f.memtables[len(f.memtables)-1].len() == 0 {
		f.memtables = f.memtables[:len(f.memtables)-1]
	} else {
		x.Apply(Edit{addMemtable: x.newMemtable(f.next)})
	}
	f.deleted, x.deleted = x.deleted, nil
	if gap > 0 {
		if _, err = x.commit(&change{gap: true, first: f.next + DocID(gap)}); err != nil {
			x.deleted = append(f.deleted, x.deleted...)
		}
	}
	return f, err
}

func (x *Index) flushTo(ctx context.Context, f flush) error {
	docs := uint64(0)
	for _, m := range f.memtables {
		docs += uint64(m.len())
	}
	o := x.fileOptions(1, docs, x.documents())
	reserved, err := x.reserveFiles(docs, docs*8*uint64(len(o.Design.Tables)+1)+idBytes(nil, f.memtables), 8*docs, &o)
	if err != nil {
		return err
	}
	defer reserved.Release()
	g := &gathered{from: f.next, ids: x.config.IDs, lengths: x.config.Lengths}
	if len(f.memtables) > 0 {
		if g, err = gather(nil, f.memtables, &x.config, x.wall.now()); err != nil {
			return err
		}
		defer g.free()
	}
	if err := x.settled(f.refused); err != nil {
		return err
	}
	slices.Sort(f.deleted)
	made, entry, err := x.toFile(ctx, g, slices.Compact(f.deleted), o)
	if err != nil {
		return err
	}
	x.folder.mu.Lock()
	defer x.folder.mu.Unlock()
	if err := x.folder.publish(func(m *Manifest) {
		m.Segments = append(m.Segments, entry)
		m.Live.From, m.Live.Last, m.Live.Next = f.mark.File, uint64(f.mark.Last), uint64(f.next)
	}); err != nil {
		made.close() // its files stay: a manifest may name them
		return err
	}
	x.put(g, made)
	return nil
}

// emptyLog records that nothing of the log before the flush is needed, where nothing was in memory.
func (x *Index) emptyLog(f flush) error {
	x.folder.mu.Lock()
	defer x.folder.mu.Unlock()
	live := x.folder.manifest.Live
	if f.mark == (wal.Mark{File: live.From, Last: wal.Position(live.Last)}) || f.mark == (wal.Mark{}) {
		return nil
	}
	if err := x.folder.publish(func(m *Manifest) {
		m.Live.From, m.Live.Last, m.Live.Next = f.mark.File, uint64(f.mark.Last), uint64(f.next)
	}); err != nil {
		return err
	}
	return x.log.Remove(f.mark)
}

// fileOptions returns the options of a segment in a file, of so many documents of all that the index has.
func (x *Index) fileOptions(threads int, docs, all uint64) segment.Options {
	return segment.Options{
		Design: x.config.designOf(docs, all), Table: x.config.Table, Threads: threads,
		Budget: x.config.Budget, TempDir: x.folder.dir, Disk: x.folder.disk, Random: x.folder.random,
	}
}
