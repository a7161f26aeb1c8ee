package live

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"golang.org/x/sync/errgroup"

	"ndd/engine/index/table"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

// A Recovery says what was found in the log when an index was opened.
type Recovery struct {
	Log      wal.Report
	Inserted uint64 // documents
	Deleted  uint64
	Removed  []string // files that no manifest named
	Took     time.Duration
}

// String returns a line: what was in the log, how long it took, what was torn.
func (r Recovery) String() string {
	if r.Log.Records == 0 && len(r.Removed) == 0 {
		return fmt.Sprintf("the log is empty, looked at in %v", r.Took.Round(10*time.Microsecond))
	}
	line := fmt.Sprintf("%s inserted and %s deleted by %s of the log, read in %v",
		counted(r.Inserted, "document"), humanize.Comma(int64(r.Deleted)), counted(r.Log.Records, "record"), r.Took.Round(10*time.Microsecond))
	if r.Log.Torn > 0 {
		line += fmt.Sprintf("; %d bytes at the end of %s were unfinished and are cut off", r.Log.Torn, r.Log.TornFile)
	}
	if n := len(r.Removed); n > 0 {
		line += fmt.Sprintf("; removed %s of work that was not finished", counted(uint64(n), "file"))
	}
	return line
}

// counted returns a number with its noun, in the plural where that is due.
func counted(n uint64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(int64(n)) + " " + noun
}

// Recovery reports what was found in the log when the index was opened; it is zero where that was
// not read.
func (x *Index) Recovery() Recovery { return x.recovery }

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
func (m *Manifest) grow(c Config, next DocID, random io.Reader) {
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
	id, _ := identity(l.Log)
	return wal.Options{ID: id, From: wal.Mark{File: l.From, Last: wal.Position(l.Last)}, Sync: o.Sync, Random: o.Random}
}

// beginWriting makes an index that has its segments one that is written to: it becomes live if it
// was not, what is left of unfinished work is removed, and the log is read.
func (x *Index) beginWriting(f *folder, o OpenOptions) (err error) {
	begun := time.Now()
	x.folder = f
	if x.recovery.Removed, err = f.removeOrphans(); err != nil {
		return err
	}
	if err := x.becomeLive(o); err != nil {
		return err
	}
	for _, s := range x.current.Load().segments {
		f.owns(s)
	}
	f.files = f.manifest.Live.Files
	x.log, x.recovery.Log, err = wal.Open(f.disk, f.dir, f.manifest.Live.log(o), x.replay)
	x.finishReplay()
	x.recovery.Took = time.Since(begun)
	return err
}

// becomeLive makes the index of an index that was built one that is written to: its manifest says
// where the log begins, and beside each segment stands an index of its documents' IDs.
func (x *Index) becomeLive(o OpenOptions) error {
	f := x.folder
	if f.manifest.Live != nil {
		x.key, _ = identity(f.manifest.Live.Key)
		return nil
	}
	next := *f.manifest
	next.Segments = slices.Clone(next.Segments)
	next.grow(x.config, x.current.Load().end(), o.Random)
	next.Generation++
	x.key, _ = identity(next.Live.Key)
	for i, s := range x.current.Load().segments {
		if !x.config.IDs || s.Segment.IDs() == nil {
			continue
		}
		name := strings.TrimSuffix(next.Segments[i].File, ".segment") + ".documents"
		reserved, err := x.reserveIDs(s)
		if err != nil {
			return err
		}
		w, err := writeDocuments(filepath.Join(f.dir, name), next.Generation, f.options(), next.Segments[i].ID, documents{numbers: s.numbers}, &x.key, s.Segment.IDs().All())
		reserved.Release()
		if err != nil {
			return err
		}
		file, err := named(w, filepath.Join(f.dir, name))
		if err != nil {
			return err
		}
		next.Segments[i].Beside = &file
		if s.beside, err = openDocuments(f.dir, &next, i); err != nil {
			return err
		}
		s.ids = s.beside.ids
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
	next := x.current.Load().end()
	if err == nil && (len(c.docs) > 0 || c.gap) && c.first < next {
		err = fmt.Errorf("%w: it begins with document %d, where %d is the next", errRecord, c.first, next)
	}
	if err != nil {
		return fmt.Errorf("%w: log record %d: %w", store.ErrCorrupt, at, err)
	}
	if len(c.docs) > 0 && c.first > next {
		x.skipTo(c.first)
	}
	if len(c.expires) > 0 {
		x.wall.expiring.Store(true)
	}
	x.logged.Store(uint64(at))
	x.recovery.Inserted += x.config.documents(uint64(len(c.docs)))
	x.recovery.Deleted += x.config.documents(uint64(len(c.delete)))
	return x.apply(&c)
}

// finishReplay ends the reading of a log: memtables get their blocks, several at the same time.
func (x *Index) finishReplay() {
	x.recovering = false
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, m := range x.current.Load().memtables {
		group.Go(func() error {
			m.finish()
			return nil
		})
	}
	group.Wait()
	x.grown()
}

// removeOrphans removes files that a flush, a merge or a build did not finish, or that a merge was
// about to remove: what the manifest does not name. Logs are the log's to remove.
func (f *folder) removeOrphans() (removed []string, err error) {
	named := map[string]bool{manifestName: true, lockName: true}
	for _, g := range f.manifest.Segments {
		named[g.File] = true
		if g.Beside != nil {
			named[g.Beside.File] = true
		}
	}
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		unfinished := strings.HasPrefix(name, ".") && strings.Contains(name, ".tmp-")
		if named[name] || !unfinished && !segmentName.MatchString(name) && !documentsName.MatchString(name) {
			continue
		}
		if err := f.disk.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// applyTombstones deletes what the files beside segments say was deleted.
func (x *Index) applyTombstones(v *version) {
	for _, s := range v.segments {
		if s.beside == nil {
			continue
		}
		for _, doc := range s.beside.tombstones {
			if of := v.segmentOf(doc); of != nil {
				if _, ok := of.numbers.row(doc); ok {
					of.dead.add(doc, 0)
				}
			}
		}
	}
}
