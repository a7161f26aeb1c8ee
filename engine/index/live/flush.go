package live

import (
	"context"
	"errors"
	"slices"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/wal"
)

const (
	// flushDocs documents in memory are flushed to a file: 15 MB with two tables.
	flushDocs = 1 << 20
	// unflushedMax documents may be in memory before inserts wait for the disk.
	unflushedMax = 8 * flushDocs
)

// tendMemory merges segments in memory, and flushes them to files, until the index is closed.
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
	if x.folder != nil {
		x.writer.mu.Lock()
		v := x.current.Load()
		flush := v != nil && x.mustFlush(v)
		x.writer.mu.Unlock()
		if flush {
			return x.flush(context.Background()) == nil || x.pause()
		}
	}
	x.compacting.Lock()
	defer x.compacting.Unlock()
	more, err := x.mergeInMemory((*Segment).mergesLarge)
	return more && err == nil // for want of memory there are more segments: slower, and right
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
	mark     wal.Mark
	next     DocID // number of the first document that it does not have
	segments []*Segment
	deleted  []DocID // of documents that are in files
}

// flush makes one file of what is in memory:
//
//	freeze the memtable, rotate the log     seal all memtables     write the segment
//	                                        publish the manifest   replace the segments   remove the logs
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
	if len(f.segments) == 0 && len(f.deleted) == 0 {
		return f.next, x.emptyLog(f)
	}
	if err := x.flushTo(ctx, f); err != nil {
		x.writer.mu.Lock()
		mark(f.segments, false)
		x.deleted = append(f.deleted, x.deleted...)
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

// errBusy is returned where a segment would be left out of a flush behind which its log is removed.
var errBusy = errors.New("a segment in memory is not there to be flushed")

// beginFlush takes what is to be flushed out of the hands of others: of a merge in memory when that
// has ended, since what is being merged is not there to be taken, and its log would be removed.
func (x *Index) beginFlush(gap uint64) (f flush, err error) {
	x.compacting.Lock()
	defer x.compacting.Unlock()
	x.sealing.Lock()
	defer x.sealing.Unlock()
	x.writer.mu.Lock()
	v := x.current.Load()
	if v == nil {
		x.writer.mu.Unlock()
		return f, ErrClosed
	}
	if f.mark, err = x.log.Rotate(); err != nil {
		x.writer.mu.Unlock()
		return f, err
	}
	f.next = v.end()
	if v.memtables[len(v.memtables)-1].len() > 0 {
		x.Apply(Edit{addMemtable: newMemtable(f.next, memtableDocs, &x.config)})
	}
	f.deleted, x.deleted = x.deleted, nil
	if gap > 0 {
		_, err = x.commit(&change{gap: true, first: f.next + DocID(gap)})
	}
	x.writer.mu.Unlock()
	if err != nil {
		return f, x.keepDeleted(f, err)
	}
	for x.current.Load().memtables[0].first < f.next {
		if _, err := x.sealOldest(); err != nil {
			return f, x.keepDeleted(f, err)
		}
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	for _, s := range x.current.Load().segments {
		if s.file != nil || s.from >= f.next {
			continue
		}
		if s.busy || s.end() > f.next {
			x.deleted = append(f.deleted, x.deleted...)
			return f, errBusy
		}
		f.segments = append(f.segments, s)
	}
	mark(f.segments, true)
	return f, nil
}

// keepDeleted gives the deletions of a flush that failed to the next one.
func (x *Index) keepDeleted(f flush, err error) error {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	x.deleted = append(f.deleted, x.deleted...)
	return err
}

func (x *Index) flushTo(ctx context.Context, f flush) error {
	docs := uint64(0)
	for _, s := range f.segments {
		docs += s.Documents()
	}
	o := x.fileOptions(1)
	reserved, err := x.reserveFiles(docs, o, f.segments)
	if err != nil {
		return err
	}
	defer reserved.Release()
	g := &gathered{from: f.next, ids: x.config.IDs}
	if x.config.Lengths {
		g.lengths = [][]uint32{}
	}
	if len(f.segments) > 0 {
		if g, err = gather(f.segments, nil, &x.config, x.wall.now()); err != nil {
			return err
		}
		defer g.free()
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

// fileOptions returns the options of segments in files.
func (x *Index) fileOptions(threads int) segment.Options {
	return segment.Options{
		Design: x.config.Design, Table: x.config.Table, Threads: threads,
		Budget: x.config.Budget, TempDir: x.folder.dir, Disk: x.folder.disk, Random: x.folder.random,
	}
}
