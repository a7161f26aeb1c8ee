package live

import (
	"context"
	"errors"

	"ndd/engine/storage/disk"
)

// ErrNotDurable is what the error of [Index.Backup] wraps where an index is in no folder.
var ErrNotDurable = errors.New("the index is in memory only")

// Durable reports whether inserts and deletions go to a log on the disk before they are acknowledged.
func (x *Index) Durable() bool { return x.log != nil }

// Backup makes the folder to, which must not exist, an index as this one is now, with all that was
// acknowledged before the call, as the function [Backup] does beside the process that writes. It never begins again: no
// manifest comes while the log is copied, and what the backup has links of stays until it has them. Inserts,
// queries and merges go on meanwhile; a flush is published when the log was copied. The error wraps
// [ErrNotDurable], [os.ErrExist] where something stands at to, or ctx's; then nothing is left there.
func (x *Index) Backup(ctx context.Context, to string) (r BackupReport, err error) {
	if !x.Durable() {
		return r, ErrNotDurable
	}
	return x.backup(ctx, x.folder.disk, to)
}

func (x *Index) backup(ctx context.Context, d *disk.Disk, to string) (r BackupReport, err error) {
	f, err := d.CreateFolder(to)
	if err != nil {
		return r, err
	}
	defer f.Abort()
	w, m, err := x.beginBackup(&r, d, f)
	if err != nil {
		return r, err
	}
	defer w.Release()
	if err := r.linkSegments(ctx, d, f, m, x.folder.dir); err != nil {
		return r, err
	}
	if err := r.readLog(ctx, f, m); err != nil {
		return r, err
	}
	return r, f.Commit()
}

// beginBackup puts the manifest and the log in a backup, and returns the manifest with a view of what it names, which keeps the
// files of its segments from being removed.
func (x *Index) beginBackup(r *BackupReport, d *disk.Disk, f *disk.Folder) (w View, m *Manifest, err error) {
	x.folder.mu.Lock()
	defer x.folder.mu.Unlock()
	if w, err = x.View(); err != nil {
		return w, nil, err
	}
	defer func() {
		if err != nil {
			w.Release()
		}
	}()
	path, err := ManifestPath(x.folder.dir)
	if err != nil {
		return w, nil, err
	}
	if err = r.link(d, f, path); err != nil {
		return w, nil, err
	}
	if m, err = ReadManifest(f.Dir()); err != nil {
		return w, nil, err
	}
	return w, m, r.copyLog(f, m, x.folder.dir)
}
