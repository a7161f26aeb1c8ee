package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/wal"
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

// start begins the work in the background.
func (u *upkeep) start() {
	u.group.Go(u.tendMemory)
	u.group.Go(u.tendSegments)
	if u.config.monotonic == nil { // else a test does its work
		u.group.Go(u.expire)
	}
}

// tendMemory flushes full memtables until the index is closed.
func (u *upkeep) tendMemory() {
	for {
		select {
		case <-u.stop:
			return
		case <-u.flushes:
		}
		for u.tendMemoryOnce() {
		}
	}
}

// tendMemoryOnce does one piece of work; it returns false when there is none.
func (u *upkeep) tendMemoryOnce() bool {
	u.flushing.Lock() // what another flush takes is not due
	u.writer.mu.Lock()
	v := u.versions.Current()
	due := v != nil && u.writer.mustFlush(v)
	u.writer.mu.Unlock()
	var err error
	if due {
		_, err = u.flushBefore(context.Background(), 0)
	}
	u.flushing.Unlock()
	return due && (err == nil || u.pause())
}

// A flush is one move of documents from memory and the log to a file.
type flush struct {
	mark      wal.Mark
	next      rows.DocID // number of the first document that it does not have
	memtables []*memtable.Table
	deleted   []rows.DocID // of documents that are in files
	refused   uint64       // changes that were taken back before
}

// flush makes one file of the memtables:
//
//	freeze the memtable, rotate the log     write the segment      publish the manifest
//	                                        replace the memtables  remove the logs
//
// Inserts go on meanwhile, to new memtables and the new log. After an error all is in memory and in
// the log, as before.
func (u *upkeep) flush(ctx context.Context) error {
	u.flushing.Lock()
	defer u.flushing.Unlock()
	_, err := u.flushBefore(ctx, 0)
	return err
}

// flushBefore flushes and reserves gap document numbers after the flushed ones; it returns
// the first. The caller holds flushing.
func (u *upkeep) flushBefore(ctx context.Context, gap uint64) (rows.DocID, error) {
	f, err := u.beginFlush(gap)
	if err != nil {
		return 0, err
	}
	if len(f.memtables) == 0 && len(f.deleted) == 0 {
		return f.next, u.emptyLog(f)
	}
	if err := u.flushTo(ctx, f); err != nil {
		u.writer.mu.Lock()
		u.writer.deleted = u.writer.stillDeleted(append(f.deleted, u.writer.deleted...))
		u.writer.noteFlush(err)
		u.writer.mu.Unlock()
		return 0, err
	}
	u.writer.mu.Lock()
	u.writer.noteFlush(nil)
	u.writer.mu.Unlock()
	u.wakeMerger()
	if !u.folder.durable() {
		return f.next, nil
	}
	return f.next, u.writer.log.Remove(f.mark)
}

// flushTries is how often a flush may lack memory, which merges give back when they end, before
// inserts that wait for it are refused: some seconds.
const flushTries = 100

// noteFlush records the result of a flush and wakes waiting inserts. The caller holds writer.mu.
func (w *writer) noteFlush(err error) {
	if !errors.Is(err, memory.ErrTooLarge) {
		w.flushesShort = 0
	} else if w.flushesShort++; w.flushesShort < flushTries {
		return
	}
	w.flushFailed = err
	w.wakeWaiting()
}

// beginFlush picks the memtables and deletions to flush, and rotates the log. The memtables stay in
// the index until they are a segment. The caller holds flushing.
func (u *upkeep) beginFlush(gap uint64) (f flush, err error) {
	u.writer.mu.Lock()
	defer u.writer.mu.Unlock()
	v := u.versions.Current()
	if v == nil {
		return f, version.ErrClosed
	}
	f.next, f.refused, f.memtables = v.End(), u.writer.refused.Load(), v.Memtables
	if last := len(f.memtables) - 1; !u.folder.durable() && last > 0 {
		f.memtables = f.memtables[:1] // for which sealRoom is held
		return f, nil
	} else if u.folder.durable() {
		if f.mark, err = u.writer.log.Rotate(); err != nil {
			return f, err
		}
	}
	if last := len(f.memtables) - 1; f.memtables[last].Len() == 0 {
		f.memtables = f.memtables[:last]
	} else {
		u.writer.applyEdit(version.Edit{AddMemtable: u.writer.newMemtable(f.next)})
	}
	f.deleted, u.writer.deleted = u.writer.stillDeleted(u.writer.deleted), nil
	if gap > 0 {
		if _, err = u.writer.commit(&change{gap: true, first: f.next + rows.DocID(gap)}); err != nil {
			u.writer.deleted = append(f.deleted, u.writer.deleted...)
		}
	}
	return f, err
}

func (u *upkeep) flushTo(ctx context.Context, f flush) error {
	if err := u.nameLog(func(*Manifest) {}); err != nil {
		return err
	}
	docs, bytes := uint64(0), uint64(0)
	for _, m := range f.memtables {
		docs += uint64(m.Len())
		bytes += m.IDBytes()
	}
	o := u.fileOptions(1, docs, u.writer.documents())
	bytes += docs * (8 + 10*uint64(len(o.Design.Tables)+1))
	reserved, err := u.reserveFiles(docs, bytes, 8*docs, u.writer.sealRoom(), &o)
	if err != nil {
		return err
	}
	defer reserved.Release()
	g := &gathered{from: f.next, ids: u.config.IDs, lengths: u.config.Lengths}
	if len(f.memtables) > 0 {
		if g, err = gather(nil, f.memtables, &u.config, u.versions.Clock.Now()); err != nil {
			return err
		}
		defer g.free()
	}
	if err := u.writer.settled(f.refused); err != nil {
		return err
	}
	slices.Sort(f.deleted)
	made, entry, err := u.toFile(ctx, g, slices.Compact(f.deleted), bytes, o)
	if err != nil {
		return err
	}
	u.folder.mu.Lock()
	defer u.folder.mu.Unlock()
	if err := u.folder.publish(func(m *Manifest) {
		m.Segments = append(m.Segments, entry)
		m.Live.From, m.Live.Last, m.Live.Next = f.mark.File, uint64(f.mark.Last), uint64(f.next)
	}); err != nil {
		made.Close() // its files stay: a manifest may name them
		return err
	}
	u.install(g, made)
	return nil
}

// emptyLog records that the log before the flush is not needed, when memory is empty.
func (u *upkeep) emptyLog(f flush) error {
	if !u.folder.durable() {
		return nil
	}
	if live := u.folder.current().Live; f.mark.File == live.From && f.mark.Last == wal.Position(live.Last) {
		return nil
	}
	if err := u.nameLog(func(m *Manifest) {
		m.Live.From, m.Live.Last, m.Live.Next = f.mark.File, uint64(f.mark.Last), uint64(f.next)
	}); err != nil {
		return err
	}
	return u.writer.log.Remove(f.mark)
}

// fileOptions returns the options of a segment file with docs of the index's all documents.
func (u *upkeep) fileOptions(threads int, docs, all uint64) segment.Options {
	return segment.Options{
		Design: u.config.designOf(docs, all), Table: u.config.Table, Threads: threads,
		Budget: u.config.Budget, TempDir: u.folder.dir, Disk: u.folder.disk, Random: u.folder.random,
	}
}

// pause waits 50 ms for memory or disk space; it returns false when the index is closed.
func (u *upkeep) pause() bool {
	select {
	case <-u.stop:
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

// mark sets whether segments are being merged. The caller holds writer.mu.
func mark(segments []*version.Segment, busy bool) {
	for _, s := range segments {
		s.Busy = busy
	}
}

// install replaces the sources of a segment by the segment.
func (u *upkeep) install(g *gathered, made *version.Segment) {
	u.writer.mu.Lock() // against inserts, which add memtables, and deletions
	defer u.writer.mu.Unlock()
	defer u.writer.wakeWaiting()
	late := g.hand(made)
	if u.folder.durable() {
		u.writer.deleted = append(u.writer.deleted, late...)
	}
	if g.whole != nil {
		u.writer.added.Add(1)
	}
	e := version.Edit{Remove: g.segments, RemoveMemtables: g.memtables}
	if made.Documents() > 0 || u.folder.durable() {
		e.Add = []*version.Segment{made}
	} else {
		defer made.Close()
	}
	u.writer.applyEdit(e) // an error would be one of giving back what was replaced
}
