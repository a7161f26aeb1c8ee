package live

import (
	"context"
	"slices"
	"time"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/storage/wal"
)

// start starts the work in the background.
func (u *upkeep) start() {
	if !u.config.noFlushes {
		u.group.Go(func() { u.tend(u.flushes, u.flushDue) })
	}
	u.group.Go(func() { u.tend(u.merges, u.mergeDue) })
	if u.config.monotonic == nil { // a test with its own clock does this work itself
		u.group.Go(u.expire)
	}
}

// tend does work whenever it is woken, until the index is closed. It does one piece of work after the other until there
// is none. After an error it waits for memory or disk space, and tries again; inserts do not fail for that.
func (u *upkeep) tend(wake <-chan struct{}, work func() (done bool, err error)) {
	for {
		select {
		case <-u.ctx.Done():
			return
		case <-wake:
		}
		for {
			done, err := work()
			if err != nil && !u.pause() || err == nil && !done {
				break
			}
		}
	}
}

// flushDue flushes full memtables. It returns false if there are none.
func (u *upkeep) flushDue() (done bool, err error) {
	u.flushing.Lock() // waits for another flush
	defer u.flushing.Unlock()
	u.writer.mu.Lock()
	v := u.versions.Current()
	due := v != nil && u.writer.state.space.mustFlush(v)
	u.writer.mu.Unlock()
	if due {
		_, err = u.flushBefore(context.Background(), 0)
	}
	return due, err
}

// A flush moves documents from memory and the log to a file.
type flush struct {
	mark      wal.Mark
	next      rows.DocID // number of the first document that it does not move
	memtables []*memtable.Table
	deleted   []rows.DocID // deleted documents in files
	refused   uint64       // writer.refused when it began
}

// note records in a manifest that the log before the flush is not needed.
func (f *flush) note(m *Manifest) {
	m.Live.FirstLog, m.Live.Last, m.Live.Next = f.mark.File, uint64(f.mark.Last), uint64(f.next)
}

// flush makes one file of the memtables:
//
//	freeze the memtable, rotate the log     write the segment      publish the manifest
//	                                        replace the memtables  remove the logs
//
// Inserts continue meanwhile, to new memtables and the new log. After an error all documents are in memory and in the
// log, as before.
func (u *upkeep) flush(ctx context.Context) error {
	u.flushing.Lock()
	defer u.flushing.Unlock()
	_, err := u.flushBefore(ctx, 0)
	return err
}

// flushBefore flushes and reserves gap document numbers after the flushed ones. It returns the first of these. The
// caller holds flushing.
func (u *upkeep) flushBefore(ctx context.Context, gap uint64) (rows.DocID, error) {
	f, err := u.beginFlush(gap)
	if err != nil {
		return 0, err
	}
	if len(f.memtables) == 0 && len(f.deleted) == 0 {
		return f.next, u.removeLog(f)
	}
	err = u.flushTo(ctx, f)
	u.writer.mu.Lock()
	if err != nil {
		u.writer.state.deleted = u.writer.state.stillDeleted(append(f.deleted, u.writer.state.deleted...))
	}
	u.writer.state.space.noteFlush(err)
	u.writer.mu.Unlock()
	if err != nil {
		return 0, err
	}
	u.wakeMerger()
	if !u.folder.durable() {
		return f.next, nil
	}
	return f.next, u.writer.log.Remove(f.mark)
}

// beginFlush selects the memtables and deletions to flush, and rotates the log. The memtables stay in the index until
// they are a segment. The caller holds flushing.
func (u *upkeep) beginFlush(gap uint64) (f flush, err error) {
	u.writer.mu.Lock()
	defer u.writer.mu.Unlock()
	v := u.versions.Current()
	if v == nil {
		return f, version.ErrClosed
	}
	f.next, f.refused, f.memtables = v.End(), u.writer.refused.Load(), v.Memtables
	if last := len(f.memtables) - 1; !u.folder.durable() && last > 0 {
		f.memtables = f.memtables[:1] // sealRoom is reserved for one
		return f, nil
	} else if u.folder.durable() {
		if f.mark, err = u.writer.log.Rotate(); err != nil {
			return f, err
		}
	}
	if last := len(f.memtables) - 1; f.memtables[last].Len() == 0 {
		f.memtables = f.memtables[:last]
	} else {
		u.writer.state.applyEdit(version.Edit{AddMemtable: u.writer.state.newMemtable(f.next)})
	}
	f.deleted, u.writer.state.deleted = u.writer.state.stillDeleted(u.writer.state.deleted), nil
	if gap > 0 {
		if _, err = u.writer.commit(&change{gap: true, first: f.next + rows.DocID(gap)}); err != nil {
			u.writer.state.deleted = append(f.deleted, u.writer.state.deleted...)
		}
	}
	return f, err
}

func (u *upkeep) flushTo(ctx context.Context, f flush) error {
	// The manifest must name the log before it names a file without its records.
	if err := u.writer.nameLog(func(*Manifest) {}); err != nil {
		return err
	}
	w := &rewrite{Edit: version.Edit{RemoveMemtables: f.memtables}, first: f.next, refused: f.refused, older: f.deleted,
		spare: u.writer.state.space.sealRoom()}
	for _, m := range f.memtables {
		w.first = min(w.first, m.First)
		w.docs += uint64(m.Len())
		w.bytes += m.IDBytes()
	}
	w.inputBytes = 8 * w.docs
	o := u.fileOptions(1, w.docs, 0)
	w.bytes += w.docs * (8 + 10*uint64(len(o.Design.Tables)+1))
	if u.config.Sketches {
		w.bytes += sketch.Bytes * w.docs
	}
	return u.rewrite(ctx, w, o, func(m *Manifest, entry ManifestSegment) {
		m.Segments = append(m.Segments, entry)
		f.note(m)
	})
}

// removeLog removes the log before a flush of nothing, if there is one.
func (u *upkeep) removeLog(f flush) error {
	live := u.folder.current().Live
	if !u.folder.durable() || f.mark.File == live.FirstLog && f.mark.Last == wal.Position(live.Last) {
		return nil
	}
	if err := u.writer.nameLog(f.note); err != nil {
		return err
	}
	return u.writer.log.Remove(f.mark)
}

// fileOptions returns the options of a segment file with docs documents, added of which are not in the index yet.
func (u *upkeep) fileOptions(threads int, docs, added uint64) segment.Options {
	if v := u.versions.Current(); v != nil {
		added += v.Documents()
	}
	return segment.Options{
		Design: u.config.designOf(docs, added), Table: u.config.Table, Threads: threads,
		Budget: u.config.Budget, TempDir: u.folder.dir, Disk: u.folder.disk,
	}
}

// pause waits 50 ms for memory or disk space. It returns false if the index is closed.
func (u *upkeep) pause() bool {
	select {
	case <-u.ctx.Done():
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

// mark marks segments as busy or not. The caller holds writer.mu.
func mark(segments []*version.Segment, busy bool) {
	for _, s := range segments {
		s.Busy = busy
	}
}

// mergeDue merges or drops the segments that pick returns. It returns false if there are none.
func (u *upkeep) mergeDue() (done bool, err error) {
	return u.merge(u.ctx, 1, func(segments []*version.Segment, now rows.Time) []*version.Segment {
		picked := pick(segments, now)
		if !u.folder.durable() && u.writer.state.space.short != nil && liveDocs(picked, now) > 0 {
			return nil // inserts need the memory
		}
		return picked
	})
}

// merge merges the segments that pick returns. It returns false if there are none. pick is called with writer.mu held.
func (u *upkeep) merge(ctx context.Context, threads int,
	pick func([]*version.Segment, rows.Time) []*version.Segment) (done bool, err error) {
	u.merging.Lock() // waits for another merge
	defer u.merging.Unlock()
	u.writer.mu.Lock()
	v := u.versions.Current()
	if v == nil {
		u.writer.mu.Unlock()
		return false, version.ErrClosed
	}
	picked := pick(v.Segments, u.versions.Clock.Now())
	mark(picked, true)
	u.writer.mu.Unlock()
	if len(picked) == 0 {
		return false, nil
	}
	return true, u.mergeFiles(ctx, picked, threads)
}

// mergeFiles merges consecutive segments that are marked busy.
func (u *upkeep) mergeFiles(ctx context.Context, segments []*version.Segment, threads int) (err error) {
	defer func() {
		if err != nil {
			u.writer.mu.Lock()
			mark(segments, false)
			u.writer.mu.Unlock()
		}
	}()
	refused, now := u.writer.refused.Load(), u.versions.Clock.Now()
	docs, older := liveDocs(segments, now), olderDeletions(segments)
	// Drop the segments without reading them if they have nothing to keep.
	if docs == 0 && len(older) == 0 {
		if err := u.writer.settled(refused); err != nil {
			return err
		}
		return u.install(version.Edit{Remove: segments}, nil, func(m *Manifest) { m.replace(segments) })
	}
	w := &rewrite{Edit: version.Edit{Remove: segments}, first: segments[0].FirstDoc, older: older, refused: refused,
		docs: docs, inputBytes: gatherBytes(segments, now)}
	for _, s := range segments {
		w.bytes += s.FileBytes()
	}
	return u.rewrite(ctx, w, u.fileOptions(threads, docs, 0), func(m *Manifest, entry ManifestSegment) {
		m.replace(segments, entry)
	})
}

// liveDocs returns the number of documents of segments that are neither deleted nor expired.
func liveDocs(segments []*version.Segment, now rows.Time) (docs uint64) {
	for _, s := range segments {
		docs += s.Live(now)
	}
	return docs
}

// replace replaces consecutive segments by others.
func (m *Manifest) replace(segments []*version.Segment, entries ...ManifestSegment) {
	position := -1
	for _, s := range segments {
		name := s.Name()
		i := slices.IndexFunc(m.Segments, func(g ManifestSegment) bool { return g.File == name })
		if position < 0 {
			position = i
		}
		m.Segments = slices.Delete(m.Segments, i, i+1)
	}
	m.Segments = slices.Insert(m.Segments, position, entries...)
}

// olderDeletions returns the deletions of documents before these segments that the files of the segments list.
func olderDeletions(segments []*version.Segment) (deleted []rows.DocID) {
	for _, s := range segments {
		for _, doc := range s.Older {
			if doc < segments[0].FirstDoc {
				deleted = append(deleted, doc)
			}
		}
	}
	return deleted
}

// expireEvery is the interval at which the index looks for segments with many expired documents. Queries never see
// these; dropping them frees space.
const expireEvery = time.Second

// clockEvery is the maximum interval at which the manifest gets the time, while documents expire.
const clockEvery = time.Hour

// heldEvery is the interval at which the manifest gets the position of the log. The loss of earlier records is then
// noticed.
const heldEvery = time.Minute

// expire starts merges of segments with expired documents and watches the clock, until the index is closed.
func (u *upkeep) expire() {
	stopped := u.watchClock(false)
	for n := 1; ; n++ {
		select {
		case <-u.ctx.Done():
			return
		case <-time.After(expireEvery):
		}
		stopped = u.watchClock(stopped)
		u.keep(n%int(heldEvery/expireEvery) == 0) // errors are tried again
		if u.versions.Clock.Now() != 0 {
			u.wakeMerger()
		}
	}
}

// watchClock reports whether the clock of an index with documents that expire is stopped. It calls ClockJumped once per
// stop.
func (u *upkeep) watchClock(reported bool) bool {
	jump := u.versions.Clock.Jump()
	if jump == 0 || u.versions.Clock.Now() == 0 {
		return false
	}
	if !reported && u.config.ClockJumped != nil {
		u.config.ClockJumped(jump)
	}
	return true
}

// keep writes a manifest with the current time if documents expire and an hour has passed, and with the position of the
// log if records is set and it has changed.
func (u *upkeep) keep(records bool) error {
	live, now := u.folder.current().Live, u.versions.Clock.Now()
	due := now != 0 && now >= live.Time+rows.Time(clockEvery/time.Second)
	if u.folder.durable() && (due || records && u.writer.logged.Load() > live.Held) {
		return u.writer.nameLog(func(*Manifest) {})
	}
	return nil
}
