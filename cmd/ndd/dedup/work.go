package dedup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/near/dedup"
	"ndd/engine/near/dedup/work"
	"ndd/engine/storage/disk"
)

// openWork opens the folder of --work.
func (d *deduping) openWork(ctx context.Context) (*work.Folder, error) {
	if err := d.g.Apart(d.work, true); err != nil {
		return nil, err
	}
	w, err := work.Open(ctx, d.g.Disk, d.work, d.g.Threads, d.sayTaken, func(msg string) { d.g.Log.Warn(msg) })
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("--work %w", err)
	}
	return w, err
}

// A copyKeeper keeps the copies in a folder that is being made.
type copyKeeper struct {
	work  *work.Folder
	dir   string
	taken atomic.Int64
}

func (c *copyKeeper) Take(f document.File, decision []byte) (path string, report []byte, ok bool) {
	if path, report, ok = c.work.TakeCopy(f, decision); ok {
		c.taken.Add(1)
	}
	return path, report, ok
}

func (c *copyKeeper) Keep(f document.File, decision []byte, name string, report []byte) {
	if name != "" {
		name = filepath.Join(c.dir, name)
	}
	c.work.KeepCopy(f, decision, name, report)
}

// keepCopies lets the folder of --work keep finished copies, if they are on a disk. The function that
// it returns says how many it gave.
func (d *deduping) keepCopies(to cli.Folder, r *dedup.Result) (say func()) {
	folder, onDisk := to.(interface{ Dir() string })
	if d.kept == nil || !onDisk {
		return func() {}
	}
	k := &copyKeeper{work: d.kept, dir: folder.Dir()}
	r.Work = k
	return func() {
		if n := int(k.taken.Load()); n > 0 {
			d.g.Log.Info(fmt.Sprintf("took over the copies of %s from %s", cli.Number(n, "file"), d.work))
		}
	}
}

// sayTaken says how many files are taken over, and which ones are read.
func (d *deduping) sayTaken(t work.Taken) {
	if t.Stored+len(t.Changed)+len(t.Other)+t.Unused == 0 {
		return // the first run
	}
	msg := fmt.Sprintf("took over %d of %s from %s", t.Stored, cli.Number(t.Files, "file"), t.Dir)
	for _, again := range []struct {
		why   string
		files []string
	}{{"new", t.New}, {"changed", t.Changed}, {"read with other options before", t.Other}} {
		if n := len(again.files); n > 0 {
			msg += fmt.Sprintf("; %s: %s", again.why, named(again.files))
		}
	}
	if t.Unused > 0 {
		msg += fmt.Sprintf("; it has %s of no input now", cli.Number(t.Unused, "more reading"))
	}
	d.g.Log.Info(msg)
}

// named names the first few of some files.
func named(files []string) string {
	const most = 5
	if n := len(files); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), n-most)
	}
	return strings.Join(files, ", ")
}
