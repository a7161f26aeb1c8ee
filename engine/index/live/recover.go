package live

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

// A replay brings a new index to the state of its files and its log, before anybody else uses the index. An index that
// is opened for writing gets its folder and its log; its writer is ready afterwards.
type replay struct {
	*indexState
	writer *writer
	report Recovery
}

// run publishes the segments of a manifest and reads its log. f is nil if the index is opened for reading.
func (r *replay) run(dir string, m *Manifest, f *folder, segments []*version.Segment, o OpenOptions) error {
	// Continue with the numbers, the key and the clock of the manifest.
	next := rows.DocID(0)
	for _, s := range segments {
		next = max(next, s.End())
	}
	if m.Live != nil {
		next = max(next, rows.DocID(m.Live.Next))
		r.key, _ = parseID(m.Live.Key)
		if !o.AcceptClock {
			r.versions.Clock.Begin(m.Live.Time, f != nil)
		}
	}
	// Publish the segments, and read the log.
	err := r.writer.state.fill(segments, next)
	start := time.Now()
	switch {
	case err != nil || f == nil && m.Live == nil:
		return err
	case f != nil:
		err = r.beginWriting(f, o)
	default: // it changes nothing on the disk
		r.report.Log, err = wal.Check(dir, m.Live.log(o.NoSync), r.apply)
	}
	r.report.Took = time.Since(start)
	return err
}

// beginWriting opens an index with segments for writing: it becomes live if it was not, the files of unfinished work
// are removed, and the log is read.
func (r *replay) beginWriting(f *folder, o OpenOptions) (err error) {
	r.folder, f.clock = f, &r.versions.Clock
	if r.report.Removed, err = f.removeOrphans(); err != nil && !disk.IsUnwritable(err) {
		return err
	}
	if err := r.becomeLive(); err != nil {
		return err
	}
	for _, s := range r.versions.Current().Segments {
		f.owns(s)
	}
	f.files = f.manifest.Live.Files
	r.writer.log, r.report.Log, err = wal.Open(f.disk, f.dir, f.manifest.Live.log(o.NoSync), r.apply)
	if err == nil {
		err = r.writer.nameLog(func(*Manifest) {})
	}
	// A full disk does not prevent opening: the index would also continue if the disk became full later.
	if r.writer.log != nil && disk.IsUnwritable(err) {
		r.report.RefusalErr, err = err, nil
	}
	return err
}

// becomeLive makes a built index live: its manifest names the beginning of the log, and each segment gets a file with
// the index of its IDs.
func (r *replay) becomeLive() error {
	f := r.folder
	if f.manifest.Live != nil {
		f.manifest.Live.Sketches = r.config.Sketches // the next manifest says so
		return nil
	}
	// Choose the keys and the number of the log.
	next := *f.manifest
	next.Segments = slices.Clone(next.Segments)
	next.grow(r.config, r.versions.Current().End())
	next.Generation++
	r.key, _ = parseID(next.Live.Key)
	// Write the index of the IDs of each segment.
	for i, s := range r.versions.Current().Segments {
		if !r.config.IDs || s.Segment.IDs() == nil {
			continue
		}
		name := strings.TrimSuffix(next.Segments[i].File, ".segment") + ".documents"
		reservation, err := r.config.reserveIDs(s)
		if err != nil {
			return err
		}
		file, err := writeDocuments(filepath.Join(f.dir, name), next.Generation, f.options(), next.Segments[i].ID,
			documents{numbers: s.Numbers}, &r.key, s.Segment.IDs().All())
		reservation.Release()
		if err != nil {
			return err
		}
		next.Segments[i].DocsFile = &file
		d, err := openDocuments(f.disk, f.dir, &next, i)
		if err != nil {
			return err
		}
		d.attach(s)
	}
	// The new manifest makes these files part of the index.
	if err := writeManifest(f.dir, next.Generation, f.options(), &next); err != nil {
		return err
	}
	f.manifest = &next
	return nil
}

// apply applies a record of the log.
func (r *replay) apply(position wal.Position, record []byte) error {
	c, err := parseChange(record)
	next := r.versions.Current().End()
	if err == nil && (len(c.docs) > 0 || c.gap) && c.first < next {
		err = fmt.Errorf("%w: it begins with document %d, where %d is the next", errRecord, c.first, next)
	}
	if err != nil {
		return fmt.Errorf("%w: log record %d: %w", store.ErrCorrupt, position, err)
	}
	if len(c.docs) > 0 && c.first > next {
		r.writer.state.skipTo(c.first)
	}
	if len(c.expires) > 0 {
		r.versions.Clock.Expiring.Store(true)
	}
	r.writer.logged.Store(uint64(position))
	r.report.Inserted += uint64(len(c.docs))
	r.report.Deleted += uint64(len(c.delete))
	defer r.versions.Commit()
	return r.writer.state.apply(&c)
}

// removeOrphans removes files that the manifest does not name: the results of an unfinished flush, merge or build, and
// files that a merge was about to remove. The log removes its own files.
func (f *folder) removeOrphans() (removed []string, err error) {
	named := []string{manifestName, disk.LockName}
	for g := range f.manifest.files {
		named = append(named, g.File)
	}
	entries, err := f.disk.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		unfinished := strings.HasPrefix(name, ".") && strings.Contains(name, ".tmp-")
		if slices.Contains(named, name) || !unfinished && !segmentName.MatchString(name) &&
			!documentsName.MatchString(name) && !sketchesName.MatchString(name) {
			continue
		}
		if err := f.disk.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// An OpenReport describes what [Open] did.
type OpenReport struct {
	Bytes   uint64        // size of the segments
	Skipped uint64        // part of Bytes that [VerifyFast] did not check
	Loaded  bool          // the files are in memory; otherwise they are mapped
	Took    time.Duration // time for mapping or reading them, and for verifying
}

// String returns the report in one line.
func (o OpenReport) String() string {
	line := humanize.IBytes(o.Bytes) + " mapped"
	if o.Loaded {
		line = humanize.IBytes(o.Bytes) + " read into memory"
	}
	line += fmt.Sprintf(" and verified in %v", o.Took.Round(10*time.Microsecond))
	if o.Skipped > 0 {
		line += fmt.Sprintf(", except %s in large sections", humanize.IBytes(o.Skipped))
	}
	return line
}

// A Recovery describes the log that was read when an index was opened.
type Recovery struct {
	Log        wal.Report
	Inserted   uint64 // number of documents
	Deleted    uint64
	Removed    []string // files that no manifest named
	Took       time.Duration
	RefusalErr error // the disk is full or read-only: changes are refused until it is not
}

// String returns the recovery in one line.
func (r Recovery) String() string {
	if r.Log.Records == 0 && len(r.Removed) == 0 {
		return fmt.Sprintf("the log is empty, read in %v", r.Took.Round(10*time.Microsecond))
	}
	line := fmt.Sprintf("%s inserted and %s deleted by %s of the log, read in %v",
		counted(r.Inserted, "document"), humanize.Comma(int64(r.Deleted)), counted(r.Log.Records, "record"),
		r.Took.Round(10*time.Microsecond))
	if r.Log.TornBytes > 0 {
		line += fmt.Sprintf("; %d bytes at the end of %s were unfinished and are cut off", r.Log.TornBytes, r.Log.TornFile)
	}
	if n := len(r.Removed); n > 0 {
		line += fmt.Sprintf("; removed %s of work that was not finished", counted(uint64(n), "file"))
	}
	return line
}

// counted returns a number with its noun.
func counted(n uint64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(int64(n)) + " " + noun
}
