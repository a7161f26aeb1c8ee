package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/work"
	"example.org/ndd/engine/storage/disk"
)

// A Work is the folder of --work.
type Work struct {
	*work.Folder
	g      *Files
	dir    string
	copies *work.Copies // copies in the folder that is being made; nil if none are kept
}

// CheckWork claims the folder of --work. Pipes are an error, because the next run cannot recognise them.
func (g *Files) CheckWork(dir string, inputs []string) error {
	if dir == "" {
		return nil
	}
	if i := slices.IndexFunc(inputs, input.ReadOnce); i >= 0 {
		return Usagef("--work needs files that can be told from others by name, size and time, and a pipe (%s) cannot: "+
			"write it to a file first", inputs[i])
	}
	return g.claim(dir, true)
}

// BeginReading prepares the reading of inputs, with a progress bar. Unless dir is "", the reading reuses the results
// in the folder of --work. The caller must call Close, even if the work is nil.
func (g *Files) BeginReading(ctx context.Context, inputs []string, c *ingest.Config, dir string) (
	w *Work, _ *Bar, err error) {
	if dir != "" {
		if w, err = g.openWork(ctx, dir); err != nil {
			return nil, nil, err
		}
		c.Work = w
	}
	c.Document.Meter = &input.Meter{}
	return w, g.Progress.NewInputBar(ctx, "reading", inputs, c.Document), nil
}

func (g *Files) openWork(ctx context.Context, dir string) (w *Work, err error) {
	w = &Work{g: g, dir: dir}
	w.Folder, err = work.Open(ctx, g.Disk, dir, g.Threads, w.report, func(msg string) { g.Log.Warn(msg) })
	if errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("--work %w: wait until that ends, or choose another folder", err)
	}
	return w, err
}

// Close completes the finished files and unlocks the folder. If err reports that a document differs from its stored
// result, the next run reads the document again. If Close fails and err is nil, err becomes its error.
func (w *Work) Close(err *error) {
	if w == nil {
		return
	}
	*err = cmp.Or(*err, w.Folder.Close())
}

// KeepCopies makes the work keep the finished copies of an unfinished folder on disk. Both may be nil.
func (w *Work) KeepCopies(to *CopyFolder) {
	if w == nil || to == nil {
		return
	}
	if folder, onDisk := to.folder.(interface{ Dir() string }); onDisk {
		w.copies = w.CopiesIn(folder.Dir())
		to.copies.Finished = w.copies
	}
}

// Done logs the number of reused copies, and removes the stored copies, because all outputs are complete.
func (w *Work) Done() {
	if w == nil {
		return
	}
	if w.copies != nil && w.copies.Taken() > 0 {
		w.g.Log.Info(fmt.Sprintf("took over the copies of %s from %s", Number(w.copies.Taken(), "file"), w.dir))
	}
	if err := w.DropCopies(); err != nil {
		w.g.Log.Warn("--work " + err.Error())
	}
}

// report logs the number of reused files, and the names of the files that are read.
func (w *Work) report(t work.Taken) {
	if t.Stored+t.Unused == 0 {
		return // the first run
	}
	msg := fmt.Sprintf("took over %d of %s from %s", t.Stored, Number(t.Files, "file"), t.Dir)
	const limit = 5
	if n := len(t.Read); n > limit {
		msg += fmt.Sprintf("; read: %s and %d more", strings.Join(t.Read[:limit], ", "), n-limit)
	} else if n > 0 {
		msg += "; read: " + strings.Join(t.Read, ", ")
	}
	if t.Unused > 0 {
		msg += fmt.Sprintf("; not used: %s of other files or options", Number(t.Unused, "reading"))
	}
	w.g.Log.Info(msg)
}
