package live

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
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

// A rewrite describes a segment that replaces segments or memtables and has their live documents.
type rewrite struct {
	version.Edit
	first      rows.DocID   // at most its first document
	older      []rows.DocID // deletions of earlier documents
	refused    uint64       // writer.refused when the parts were chosen
	docs       uint64       // estimated number of documents
	bytes      uint64       // estimated size of the files
	inputBytes uint64       // memory of the documents until they are written
	spare      uint64       // memory that is already reserved
}

// rewrite makes a segment and replaces its sources by it: in the manifest, by edit, and in the index.
func (u *upkeep) rewrite(ctx context.Context, w *rewrite, o segment.Options, edit func(*Manifest, ManifestSegment)) error {
	reservation, err := u.reserveFiles(w, &o)
	if err != nil {
		return err
	}
	defer reservation.Release()
	// Collect the documents, and make sure that none of them may still be undone.
	g, err := gather(w.Remove, w.RemoveMemtables, w.first, &u.config, u.versions.Clock.Now())
	if err != nil {
		return err
	}
	defer g.fingerprints.Free()
	if err := u.writer.settled(w.refused); err != nil {
		return err
	}
	// Write the segment, and let it replace the others.
	slices.Sort(w.older)
	g.tombstones = slices.Compact(w.older)
	return u.makeSegment(ctx, &g.newSegment, w.Edit, w.bytes, o, edit)
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

// install replaces the parts that e removes by a segment, or by nothing if result is nil: in the manifest, by edit, and
// in the index. After an error the segment is closed and its files stay, because a manifest may name them.
func (u *upkeep) install(e version.Edit, result *version.Segment, edit func(*Manifest)) error {
	u.folder.mu.Lock()
	defer u.folder.mu.Unlock()
	if err := u.folder.publish(edit); err != nil {
		if result != nil {
			result.Close()
		}
		return err
	}
	for _, s := range e.Remove {
		s.Dropped = true
	}
	u.writer.mu.Lock() // against inserts, which add memtables, and deletions
	defer u.writer.mu.Unlock()
	defer u.writer.state.space.wakeWaiting()
	if result != nil {
		deleted := handDeletions(e, result)
		if u.folder.durable() {
			u.writer.state.deleted = append(u.writer.state.deleted, deleted...)
		}
		e.Add = []*version.Segment{result}
	}
	if len(e.Remove) == 0 && len(e.RemoveMemtables) == 0 {
		u.writer.added.Add(1)
	}
	u.writer.state.applyEdit(e) // errors only concern freeing the old segments
	return nil
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
