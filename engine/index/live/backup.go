package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/wal"
)

// A BackupReport describes the result of [Backup].
type BackupReport struct {
	Files  int    // number of files of segments, plus the manifest
	Linked uint64 // number of bytes shared with the index
	Copied uint64 // number of copied bytes
	Log    wal.Report
}

// backupTries is the maximum number of attempts of a backup that flushes or merges interrupt.
const backupTries = 20

// Backup creates the folder target, which must not exist, with a copy of the index in folder dir and every change that
// was acknowledged before the call. Another process may write to dir meanwhile.
//
// Files of an index never change. So the backup has hard links to them, which take neither time nor space, or copies if
// target is on another file system. Only the log grows; it is copied. If a new manifest, which may have removed files,
// is published meanwhile, the backup begins again.
func Backup(ctx context.Context, d *disk.Disk, dir, target string) (r BackupReport, err error) {
	if _, err := manifestPath(nil, dir); err != nil {
		return r, err
	}
	for range backupTries {
		if r, err = backup(ctx, d, dir, target, nil); !errors.Is(err, errChanged) {
			return r, err
		}
	}
	return r, fmt.Errorf("%s: it changed %d times while it was copied: %w", dir, backupTries, err)
}

var errChanged = errors.New("the index was flushed or merged during the copy")

// ErrNotDurable is wrapped by errors of [Index.Backup] of an index without a folder.
var ErrNotDurable = errors.New("the index is in memory only")

// Durable reports whether inserts and deletions are logged on disk before they are acknowledged.
func (x *Index) Durable() bool { return x.writer.log != nil }

// Backup is like the function [Backup] for this index. It never begins again: no manifest is published while the log is
// copied, and the files of segments stay until they are linked. Inserts, queries and merges continue; a flush is
// published after the log was copied. The error wraps [ErrNotDurable], [os.ErrExist] if target exists, or the error of
// ctx. After an error, target does not exist.
func (x *Index) Backup(ctx context.Context, target string) (r BackupReport, err error) {
	if !x.Durable() {
		return r, ErrNotDurable
	}
	return backup(ctx, x.folder.disk, x.folder.dir, target, x)
}

// backup makes a backup of the index in folder dir. x is that index, or nil if another process may write to it; the
// error then wraps [errChanged] if the index changed meanwhile.
func backup(ctx context.Context, d *disk.Disk, dir, target string, x *Index) (r BackupReport, err error) {
	// Begin the folder, which gets its name at the end.
	if err := disk.CheckParent(target); err != nil {
		return r, err
	}
	f, err := d.CreateFolder(target)
	if err != nil {
		return r, err
	}
	defer f.Abort()
	// Copy the manifest and the log of one moment.
	var m *Manifest
	if x == nil {
		m, err = r.begin(d, f, dir)
	} else {
		x.folder.mu.Lock() // no manifest comes
		w, e := x.View()   // keeps the files of segments
		if e != nil {
			x.folder.mu.Unlock()
			return r, e
		}
		defer w.Release()
		m, err = r.begin(d, f, dir)
		x.folder.mu.Unlock()
	}
	// Link the files of that manifest, and check the copied log.
	if err == nil {
		err = r.linkSegments(ctx, d, f, m, dir)
	}
	if err == nil && m.Live != nil {
		r.Log, err = wal.Check(f.Dir(), m.Live.log(false), func(wal.Position, []byte) error { return ctx.Err() })
	}
	// Another process may have replaced the manifest meanwhile.
	if x == nil && m != nil {
		now, e := ReadManifest(dir)
		if e == nil && now.Generation != m.Generation {
			e = errChanged
		}
		err = errors.Join(e, err)
	}
	if err != nil {
		return r, err
	}
	return r, f.Commit()
}

// begin copies the manifest and the log. The manifest is not linked, because linking fails while it is replaced.
func (r *BackupReport) begin(d *disk.Disk, f *disk.Folder, dir string) (*Manifest, error) {
	r.Files++
	if err := r.copy(d, f, filepath.Join(dir, manifestName)); err != nil {
		return nil, err
	}
	m, err := ReadManifest(f.Dir())
	if err != nil || m.Live == nil {
		return m, err
	}
	paths, err := wal.Paths(d, dir, m.Live.log(false).Start)
	for _, path := range paths {
		err = errors.Join(err, r.copy(d, f, path))
	}
	return m, err
}

// linkSegments links the files of a manifest's segments in the backup.
func (r *BackupReport) linkSegments(ctx context.Context, d *disk.Disk, f *disk.Folder, m *Manifest, dir string) error {
	for g := range m.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.link(d, f, filepath.Join(dir, g.File)); errors.Is(err, fs.ErrNotExist) {
			return g.missing(dir)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// link links a file in the backup, or copies it if links are impossible.
func (r *BackupReport) link(d *disk.Disk, f *disk.Folder, path string) error {
	info, err := d.Stat(path)
	if err != nil {
		return err
	}
	r.Files++
	err = d.Link(path, filepath.Join(f.Dir(), filepath.Base(path)))
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		return r.copy(d, f, path)
	}
	r.Linked += uint64(info.Size())
	return err
}

// copy copies the current content of a file to the backup.
func (r *BackupReport) copy(d *disk.Disk, f *disk.Folder, path string) error {
	source, err := d.Open(path)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	return f.Write(filepath.Base(path), func(w *bufio.Writer) error {
		// A private file stays private. The copy is still empty.
		if err := os.Chmod(filepath.Join(f.Dir(), filepath.Base(path)), info.Mode().Perm()); err != nil {
			return err
		}
		n, err := io.Copy(w, source)
		r.Copied += uint64(n)
		return err
	})
}
