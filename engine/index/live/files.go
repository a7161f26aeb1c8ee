package live

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/generations"
)

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
	defer func() {
		if err != nil { // no manifest names them
			f.disk.Remove(path)
			f.disk.Remove(beside)
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
	one := &Manifest{K: u.config.Design.K, Segments: []ManifestSegment{entry}, Generation: generation}
	made, err = one.openSegment(f.disk, f.dir, 0, g.from, one.mapper(f.disk))
	if err != nil {
		return nil, entry, err
	}
	made.From = g.from
	if err := made.Warm(); err != nil {
		made.Close()
		return nil, entry, err
	}
	if u.workers != nil && f.durable() {
		if err := place(ctx, u.workers, made); err != nil {
			made.Close()
			return nil, entry, err
		}
	}
	f.owns(made)
	return made, entry, nil
}

// writeBeside writes the file beside a segment, for the manifest to name.
func (u *upkeep) writeBeside(path string, generation uint64, of string, g *gathered,
	dead []rows.DocID) (ManifestFile, error) {
	ids := g.allIDs()
	if !g.ids {
		ids = nil
	}
	w, err := writeDocuments(path, generation, u.folder.options(), of, documents{numbers: g.numbers, expires: g.expires,
		tombstones: dead}, &u.key, ids)
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
	budget := u.config.Budget.Here()
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
		o.Most = segment.NeedBytes(docs, *o) - beside
	}
	plan, err := segment.NewPlan(docs, *o)
	o.Most = plan.Bytes
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
	if u.config.planned != nil {
		u.config.planned(docs, beside+writing)
	}
	return reserved, nil
}

// spareBytes a document are what writing a segment can do without at the price of a second or third
// more of reading.
const spareBytes = 2
