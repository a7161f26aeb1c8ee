package dedup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ndd/cmd/ndd/cli"
	"ndd/engine/near/dedup/work"
	"ndd/engine/storage/disk"
)

// openWork opens the folder of --work.
func (d *deduping) openWork(ctx context.Context) (*work.Folder, error) {
	w, err := work.Open(ctx, d.g.Disk, d.work, d.g.Threads, d.sayTaken, func(msg string) { d.g.Log.Warn(msg) })
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("--work %w", err)
	}
	return w, err
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
