package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/index"
	"ndd/engine"
	"ndd/engine/copies"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

func newCheck(g *cli.Globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "check INDEX|FILE...",
		Short: "Verify every byte of indexes and fingerprint files",
		Long: `Verify every checksum of indexes, files of an index, and fingerprint files, then
read all content and check that it is consistent. If anything is wrong, the exit
status is 3 and the message names the file, section and offset.

With --format json, one object per INDEX or FILE: path, sound (true or false), kind,
bytes or documents, and error.`,
		Example: `  ndd check index
  ndd check index/00000001.segment pages.ndf`,
		Args: cli.SomeArgs("INDEX or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var wrong []error // of each that is
			for _, path := range args {
				f := &finding{Path: path}
				err := f.check(cmd.Context(), g)
				if ended := cmd.Context().Err(); ended != nil {
					return ended
				}
				if f.Sound = err == nil; err != nil {
					f.Error = err.Error()
				}
				wrong = append(wrong, err)
				switch {
				case format == "json":
					wrong = append(wrong, writeJSON(g.Stdout, f))
				case f.Sound: // an error is reported in the end
					_, err = fmt.Fprintf(g.Stdout, "%s: %s\n", f.Path, f.text)
					wrong = append(wrong, err)
				}
			}
			return errors.Join(wrong...)
		},
	}
	cli.WordVar(cmd.Flags(), &format, "format", "output format: text or json", "text", "json")
	g.RegisterRaw(cmd)
	return cmd
}

// writeJSON writes a line of JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// A finding is the result of check for an index or a file.
type finding struct {
	Path         string `json:"path"`
	Sound        bool   `json:"sound"`
	Kind         string `json:"kind,omitempty"`
	Bytes        uint64 `json:"bytes,omitempty"`
	Documents    uint64 `json:"documents,omitempty"`
	Fingerprints uint64 `json:"fingerprints,omitempty"`
	TooShort     uint64 `json:"too_short,omitempty"` // documents without a fingerprint
	K            int    `json:"k,omitempty"`
	Tables       int    `json:"tables,omitempty"`
	Deleted      uint64 `json:"deleted,omitempty"`     // documents that a merge will drop
	Expired      uint64 `json:"expired,omitempty"`     // likewise, since their time is over
	LogRecords   uint64 `json:"log_records,omitempty"` // that are in no segment yet
	Unfinished   int64  `json:"unfinished_bytes,omitempty"`
	Checksums    bool   `json:"checksums"` // false for raw fingerprints
	Error        string `json:"error,omitempty"`

	text string // all of it but the path
}

// check verifies what the path names.
func (f *finding) check(ctx context.Context, g *cli.Globals) error {
	if cli.IsRead(f.Path) {
		return f.checkPrints(ctx, g)
	}
	info, err := os.Stat(f.Path)
	switch {
	case err != nil:
		return err
	case info.IsDir() && copies.IsIndex(f.Path):
		return f.checkCopies(ctx, g)
	case info.IsDir():
		return f.checkIndex(ctx, g)
	}
	kind, ok, err := store.Sniff(f.Path)
	switch {
	case err != nil:
		return err
	case wal.IsLog(f.Path) && !g.Raw:
		return f.checkLog()
	case !ok, g.Raw, kind == store.KindFingerprints:
		return f.checkPrints(ctx, g)
	}
	return f.checkPart(ctx, g, kind)
}

func (f *finding) checkIndex(ctx context.Context, g *cli.Globals) error {
	bar := g.Progress.NewBar("verifying", 0, cli.BytesUnit)
	x, err := engine.Open(ctx, f.Path, engine.OpenOptions{Threads: g.Threads,
		Progress: bar.SetOf})
	bar.End()
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Check(ctx); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	s := x.Stats()
	f.Kind, f.Documents, f.Fingerprints, f.Checksums = "index", s.Documents, s.Fingerprints, true
	f.K, f.Tables = x.Design().K, len(x.Design().Tables)
	f.text = fmt.Sprintf("sound: %s, %s, k = %d, %s",
		cli.Number(s.Documents, "document"), cli.Number(s.Fingerprints, "fingerprint"), f.K, cli.Number(f.Tables, "table"))
	log := x.Live().Recovery().Log
	f.Deleted, f.LogRecords, f.Unfinished = s.Deleted, log.Records, log.Torn
	f.Expired = s.Expired
	f.text += droppedText(s.Deleted, s.Expired)
	f.text += logText(log)
	return nil
}

// droppedText describes the documents that a merge will drop.
func droppedText(deleted, expired uint64) string {
	if deleted == 0 && expired == 0 {
		return ""
	}
	return "; " + index.GoneText(deleted, expired) + " to be dropped by a merge"
}

// checkCopies verifies an index of signatures.
func (f *finding) checkCopies(ctx context.Context, g *cli.Globals) error {
	x, err := copies.OpenIndex(ctx, f.Path, max(g.Threads, 1))
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Check(ctx); err != nil {
		return err
	}
	f.Kind, f.Documents, f.Checksums = "copies index", x.Documents(), true
	f.Deleted = x.Deleted()
	f.text = fmt.Sprintf("sound: index to find copies, %s, method %s", cli.Number(f.Documents, "document"),
		x.Recipe().Method) + droppedText(f.Deleted, 0)
	return nil
}

// logText returns what check says of a log that has something.
func logText(r wal.Report) (text string) {
	if r.Records > 0 {
		text = "; the log has " + cli.Number(r.Records, "record")
	}
	if r.Torn > 0 {
		text += fmt.Sprintf("; %d bytes at the end of %s are unfinished, were never acknowledged and will be cut off",
			r.Torn, r.TornFile)
	}
	return text
}

// checkLog verifies one file of a log.
func (f *finding) checkLog() error {
	r, err := wal.CheckFile(f.Path, nil)
	if err != nil {
		return err
	}
	f.Kind, f.Bytes, f.Checksums = "write-ahead log", uint64(r.Bytes+r.Torn), true
	f.LogRecords, f.Unfinished = r.Records, r.Torn
	f.text = fmt.Sprintf("sound: write-ahead log, %s", humanize.IBytes(f.Bytes)) + logText(r.Report)
	return nil
}

func (f *finding) checkPrints(ctx context.Context, g *cli.Globals) (err error) {
	defer store.CatchFault(&err)()
	file, err := g.OpenPrintFile(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	f.Documents = file.Len()
	s := file.Store()
	if s == nil {
		f.Kind = "raw fingerprints"
		f.text = cli.Number(f.Documents, "raw fingerprint") + ", without checksums"
		return nil
	}
	if err := s.Verify(ctx, g.Threads, nil); err != nil {
		return err
	}
	for _, list := range []func(func(string, error) bool){file.IDs, file.Unmarked} {
		f.TooShort = 0
		for _, err := range list {
			if err != nil {
				return err
			}
			f.TooShort++
		}
	}
	f.Kind, f.Bytes, f.Checksums = s.Kind().String(), s.Bytes(), true
	f.text = fmt.Sprintf("sound: %s, and %s too short for a fingerprint",
		cli.Number(f.Documents, "document"), cli.Number(f.TooShort, "document"))
	return nil
}

// checkPart verifies a file of an index.
func (f *finding) checkPart(ctx context.Context, g *cli.Globals, kind store.Kind) error {
	file, err := store.Open(f.Path, kind)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Verify(ctx, g.Threads, nil); err != nil {
		return err
	}
	switch kind {
	case store.KindSegment:
		s, err := segment.Open(file)
		if err == nil {
			defer s.Close()
			err = s.Check()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	case store.KindPostings:
		if f.Documents, _, err = copies.CheckSegment(ctx, f.Path, g.Threads); err != nil {
			return err
		}
	}
	f.Kind, f.Bytes, f.Checksums = kind.String(), file.Bytes(), true
	f.text = fmt.Sprintf("sound: %s, %s", kind, humanize.IBytes(f.Bytes))
	return nil
}
