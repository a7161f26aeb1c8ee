package live

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/table"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/generations"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

// Create makes the folder of an empty index, which must not exist, to be opened for writing.
func Create(dir string, c Config, o store.Options) error {
	if err := c.Design.Validate(); err != nil {
		return err
	}
	f, err := o.Disk.CreateFolder(dir)
	if err != nil {
		return err
	}
	defer f.Abort()
	m := &Manifest{K: c.Design.K, Recipe: c.Recipe, Choice: c.Choice}
	m.grow(c, 0, o.Random)
	if err := writeManifest(f.Dir(), 1, o, m); err != nil {
		return err
	}
	return f.Commit()
}

// grow makes the manifest one of an index that is written to.
func (m *Manifest) grow(c Config, next rows.DocID, random io.Reader) {
	if random == nil {
		random = rand.Reader
	}
	digits := func() string {
		var id [16]byte
		io.ReadFull(random, id[:]) // crypto/rand never fails
		return hex.EncodeToString(id[:])
	}
	m.Live = &ManifestLive{
		Log: digits(), Key: digits(), Next: uint64(next), Files: uint64(len(m.Segments)) + 1,
		Design: c.Design, Layout: cmp.Or(c.Table.Layout, table.LayoutHuffman), IDs: c.IDs, Lengths: c.Lengths,
	}
	for _, g := range m.Segments {
		var number uint64
		if _, err := fmt.Sscanf(g.File, "%d.segment", &number); err == nil {
			m.Live.Files = max(m.Live.Files, number+1)
		}
	}
}

// log returns what the index's log is opened with.
func (l *ManifestLive) log(o OpenOptions) wal.Options {
	id, _ := generations.ParseID(l.Log)
	return wal.Options{ID: id, From: wal.Mark{File: l.From, Last: wal.Position(l.Last)},
		Holds: wal.Mark{File: l.File, Last: wal.Position(l.Held)}, Sync: o.Sync, Random: o.Random}
}

// beginWriting makes an index that has its segments one that is written to: it becomes live if it
// was not, what is left of unfinished work is removed, and the log is read.
func (x *Index) beginWriting(f *folder, o OpenOptions) (err error) {
	begun := time.Now()
	x.folder, f.clock = f, &x.versions.Clock
	if x.recovery.Removed, err = f.removeOrphans(); err != nil {
		return err
	}
	if err := x.becomeLive(o); err != nil {
		return err
	}
	for _, s := range x.versions.Current().Segments {
		f.owns(s)
	}
	f.files = f.manifest.Live.Files
	x.writer.log, x.recovery.Log, err = wal.Open(f.disk, f.dir, f.manifest.Live.log(o), x.replay)
	x.finishReplay()
	if err == nil {
		err = x.upkeep.nameLog(func(*Manifest) {})
	}
	x.recovery.Took = time.Since(begun)
	return err
}

// nameLog publishes a manifest, changed by edit, that says which file the log goes on in, and what
// the log holds.
func (u *upkeep) nameLog(edit func(*Manifest)) error {
	if !u.folder.durable() {
		return nil
	}
	holds, err := u.writer.log.Begin()
	if err != nil {
		return err
	}
	u.folder.mu.Lock()
	defer u.folder.mu.Unlock()
	return u.folder.publish(func(m *Manifest) {
		m.Live.File, m.Live.Held = holds.File, uint64(holds.Last)
		edit(m)
	})
}

// becomeLive makes the index of an index that was built one that is written to: its manifest says
// where the log begins, and beside each segment stands an index of its documents' IDs.
func (x *Index) becomeLive(o OpenOptions) error {
	f := x.folder
	if f.manifest.Live != nil {
		x.key, _ = generations.ParseID(f.manifest.Live.Key)
		return nil
	}
	next := *f.manifest
	next.Segments = slices.Clone(next.Segments)
	next.grow(x.config, x.versions.Current().End(), o.Random)
	next.Generation++
	x.key, _ = generations.ParseID(next.Live.Key)
	for i, s := range x.versions.Current().Segments {
		if !x.config.IDs || s.Segment.IDs() == nil {
			continue
		}
		name := strings.TrimSuffix(next.Segments[i].File, ".segment") + ".documents"
		reserved, err := x.writer.reserveIDs(s)
		if err != nil {
			return err
		}
		w, err := writeDocuments(filepath.Join(f.dir, name), next.Generation, f.options(), next.Segments[i].ID,
			documents{numbers: s.Numbers}, &x.key, s.Segment.IDs().All())
		reserved.Release()
		if err != nil {
			return err
		}
		file := generations.EntryOf(w, name)
		next.Segments[i].Beside = &file
		d, err := openDocuments(f.disk, f.dir, &next, i)
		if err != nil {
			return err
		}
		d.attach(s)
	}
	if err := writeManifest(f.dir, next.Generation, f.options(), &next); err != nil {
		return err
	}
	f.manifest = &next
	return nil
}

// readLog inserts what the log has of an index that is only read, and changes nothing on the disk.
func (x *Index) readLog(dir string, m *Manifest, o OpenOptions) (err error) {
	begun := time.Now()
	x.recovery.Log, err = wal.Check(dir, m.Live.log(o), x.replay)
	x.finishReplay()
	x.recovery.Took = time.Since(begun)
	return err
}

// replay makes the change of a record of the log. Nobody else has the index yet.
func (x *Index) replay(at wal.Position, record []byte) error {
	c, err := parseChange(record)
	next := x.versions.Current().End()
	if err == nil && (len(c.docs) > 0 || c.gap) && c.first < next {
		err = fmt.Errorf("%w: it begins with document %d, where %d is the next", errRecord, c.first, next)
	}
	if err != nil {
		return fmt.Errorf("%w: log record %d: %w", store.ErrCorrupt, at, err)
	}
	if len(c.docs) > 0 && c.first > next {
		x.writer.skipTo(c.first)
	}
	if len(c.expires) > 0 {
		x.versions.Clock.Expiring.Store(true)
	}
	x.writer.logged.Store(uint64(at))
	x.recovery.Inserted += uint64(len(c.docs))
	x.recovery.Deleted += uint64(len(c.delete))
	return x.writer.apply(&c)
}

// finishReplay ends the reading of a log: memtables get their blocks, several at the same time.
func (x *Index) finishReplay() {
	x.writer.recovering = false
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, m := range x.versions.Current().Memtables {
		group.Go(func() error {
			m.IndexAll()
			return nil
		})
	}
	group.Wait()
	x.writer.grown()
}

// removeOrphans removes files that a flush, a merge or a build did not finish, or that a merge was
// about to remove: what the manifest does not name. Logs are the log's to remove.
func (f *folder) removeOrphans() (removed []string, err error) {
	named := []string{manifestName, disk.LockName}
	for _, g := range f.manifest.Segments {
		named = append(named, g.File)
		if g.Beside != nil {
			named = append(named, g.Beside.File)
		}
	}
	return generations.RemoveOrphans(f.disk, f.dir, named, func(name string) bool {
		return segmentName.MatchString(name) || documentsName.MatchString(name)
	})
}

// applyTombstones deletes what the files beside segments say was deleted.
func (w *writer) applyTombstones(v *version.Version) {
	for _, s := range v.Segments {
		for _, doc := range s.Older {
			if of := v.SegmentOf(doc); of != nil {
				if _, ok := of.Numbers.Row(doc); ok {
					of.Dead.Add(doc, 0)
				}
			}
		}
	}
}
