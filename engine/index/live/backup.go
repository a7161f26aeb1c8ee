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

	"ndd/engine/storage/disk"
	"ndd/engine/storage/wal"
)

// A BackupReport says what [Backup] made.
type BackupReport struct {
	Files  int    // of segments, and the manifest
	Linked uint64 // bytes that the backup shares with the index
	Copied uint64 // bytes that were copied
	Log    wal.Report
}

// backupTries is how often a backup is begun again because the index was flushed or merged meanwhile.
const backupTries = 20

// Backup makes the folder to, which must not exist, an index as the one in folder dir is now, with all that
// was acknowledged before the call. Another process may write to dir meanwhile.
//
// Files of an index are never changed, so the backup has hard links of them, which take neither time nor
// room, or copies where to is on another file system. Only the log grows; it is copied. When a new
// manifest comes meanwhile, which may have taken files away, the backup begins again.
func Backup(ctx context.Context, d *disk.Disk, dir, to string) (r BackupReport, err error) {
	for range backupTries {
		again := false
		if r, again, err = backup(ctx, d, dir, to); !again {
			return r, err
		}
	}
	return r, fmt.Errorf("%s: it changed %d times while it was copied: %w", dir, backupTries, err)
}

var errChanged = errors.New("a flush or a merge came between")

// backup makes one attempt; again says that the index changed meanwhile.
func backup(ctx context.Context, d *disk.Disk, dir, to string) (r BackupReport, again bool, err error) {
	path, err := ManifestPath(dir)
	if err != nil {
		return r, false, err
	}
	f, err := d.CreateFolder(to)
	if err != nil {
		return r, false, err
	}
	defer f.Abort()
	if err := r.link(d, f, path); err != nil {
		return r, false, err
	}
	m, err := ReadManifest(f.Dir())
	if err != nil {
		return r, false, err
	}
	err = r.fill(ctx, d, f, m, dir)
	now, e := ReadManifest(dir)
	switch {
	case e == nil && now.Generation != m.Generation:
		return r, true, errors.Join(errChanged, err)
	case err != nil || e != nil:
		return r, false, errors.Join(err, e)
	}
	return r, false, f.Commit()
}

// fill puts the files of a manifest and the log in the backup, and reads the log.
func (r *BackupReport) fill(ctx context.Context, d *disk.Disk, f *disk.Folder, m *Manifest, dir string) error {
	if err := r.linkSegments(ctx, d, f, m, dir); err != nil || m.Live == nil {
		return err
	}
	if err := r.copyLog(f, m, dir); err != nil {
		return err
	}
	return r.readLog(ctx, f, m)
}

// linkSegments gives the files of a manifest's segments names in the backup.
func (r *BackupReport) linkSegments(ctx context.Context, d *disk.Disk, f *disk.Folder, m *Manifest, dir string) error {
	for _, g := range m.Segments {
		files := []string{g.File}
		if g.Beside != nil {
			files = append(files, g.Beside.File)
		}
		for _, name := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.link(d, f, filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
				return g.missing(filepath.Join(dir, name))
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// copyLog copies the log from where a manifest says that it begins.
func (r *BackupReport) copyLog(f *disk.Folder, m *Manifest, dir string) error {
	paths, err := wal.Paths(dir, m.Live.log(OpenOptions{}).From)
	for _, path := range paths {
		err = errors.Join(err, r.copy(f, path))
	}
	return err
}

// readLog reads the log of the backup.
func (r *BackupReport) readLog(ctx context.Context, f *disk.Folder, m *Manifest) (err error) {
	r.Log, err = wal.Check(f.Dir(), m.Live.log(OpenOptions{}), func(wal.Position, []byte) error { return ctx.Err() })
	return err
}

// link gives a file a second name in the backup, or copies it where that cannot be.
func (r *BackupReport) link(d *disk.Disk, f *disk.Folder, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r.Files++
	err = d.Link(path, filepath.Join(f.Dir(), filepath.Base(path)))
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		return r.copy(f, path)
	}
	r.Linked += uint64(info.Size())
	return err
}

// copy copies a file to the backup, as much of it as there is.
func (r *BackupReport) copy(f *disk.Folder, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	return f.Write(filepath.Base(path), func(w *bufio.Writer) error {
		n, err := io.Copy(w, from)
		r.Copied += uint64(n)
		return err
	})
}
