package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	var format cli.ReportFormat
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
			if err := format.Check(g); err != nil {
				return err
			}
			var rows []cli.CellRow
			var wrong []error // of each that is
			for _, path := range args {
				f := &finding{Path: path}
				err := checkPath(cmd.Context(), g, f)
				if ended := cmd.Context().Err(); ended != nil {
					return ended
				}
				if format.IsTable() {
					rows, wrong = append(rows, f.row(err)), append(wrong, err)
					continue
				}
				wrong = append(wrong, err, f.write(g, format.IsJSON(), err))
			}
			if format.IsTable() {
				wrong = append(wrong, format.Table(g, findingColumns, rows))
			}
			return errors.Join(wrong...)
		},
	}
	format.Register(cmd, "text", "a row for each INDEX or FILE")
	return cmd
}

var findingColumns = cli.ColumnsOf("path sound:b kind? bytes:i? documents:i? fingerprints:i? too_short:i? deleted:i? expired:i? error?")

// row returns the finding as a row of a table.
func (f *finding) row(err error) cli.CellRow {
	some := func(n uint64) any {
		if n == 0 {
			return nil
		}
		return n
	}
	r := cli.CellRow{f.Path, err == nil, nil, some(f.Bytes), some(f.Documents), some(f.Fingerprints), some(f.TooShort), some(f.Deleted), some(f.Expired), nil}
	if f.Kind != "" {
		r[2] = f.Kind
	}
	if err != nil {
		r[9] = err.Error()
	}
	return r
}

// A finding is what check says of an index or a file that is sound, or, with Error, that is not.
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

// write prints the finding; text says nothing of what is not sound, as the error does that.
func (f *finding) write(g *cli.Globals, asJSON bool, err error) error {
	if asJSON {
		if f.Sound = err == nil; err != nil {
			f.Error = err.Error()
		}
		e := json.NewEncoder(g.Stdout)
		e.SetEscapeHTML(false)
		return e.Encode(f)
	}
	if err == nil {
		_, err = fmt.Fprintf(g.Stdout, "%s: %s\n", f.Path, f.text)
		return err
	}
	return nil
}

func checkPath(ctx context.Context, g *cli.Globals, f *finding) error {
	if cli.IsRead(f.Path) {
		return checkPrints(ctx, g, f)
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return err
	}
	if info.IsDir() && copies.IsIndex(f.Path) {
		return checkCopies(ctx, g, f)
	}
	if info.IsDir() {
		return checkIndex(ctx, g, f)
	}
	kind, ok, err := store.Sniff(f.Path)
	switch {
	case err != nil:
		return err
	case wal.IsLog(f.Path):
		return checkLog(f)
	case !ok, kind == store.KindFingerprints:
		return checkPrints(ctx, g, f)
	}
	return checkPart(ctx, g, f, kind)
}

func checkIndex(ctx context.Context, g *cli.Globals, f *finding) error {
	bar := g.NewBar("verifying", 0, cli.BytesUnit)
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

// droppedText returns what is said of documents that take room until a merge drops them.
func droppedText(deleted, expired uint64) string {
	if deleted == 0 && expired == 0 {
		return ""
	}
	return "; " + index.GoneText(deleted, expired) + " to be dropped by a merge"
}

// checkCopies verifies an index of signatures.
func checkCopies(ctx context.Context, g *cli.Globals, f *finding) error {
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
	f.text = fmt.Sprintf("sound: index to find copies, %s, method %s", cli.Number(f.Documents, "document"), x.Recipe().Method) + droppedText(f.Deleted, 0)
	return nil
}

// logText returns what check says of a log that has something.
func logText(r wal.Report) (text string) {
	if r.Records > 0 {
		text = "; the log has " + cli.Number(r.Records, "record")
	}
	if r.Torn > 0 {
		text += fmt.Sprintf("; %d bytes at the end of %s are unfinished, were never acknowledged and will be cut off", r.Torn, r.TornFile)
	}
	return text
}

// checkLog verifies one file of a log.
func checkLog(f *finding) error {
	r, err := wal.CheckFile(f.Path, nil)
	if err != nil {
		return err
	}
	f.Kind, f.Bytes, f.Checksums = "write-ahead log", uint64(r.Bytes+r.Torn), true
	f.LogRecords, f.Unfinished = r.Records, r.Torn
	f.text = fmt.Sprintf("sound: write-ahead log, %s", humanize.IBytes(f.Bytes)) + logText(r.Report)
	return nil
}

func checkPrints(ctx context.Context, g *cli.Globals, found *finding) (err error) {
	defer store.CatchFault(&err)()
	f, err := g.OpenPrintFile(found.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	found.Documents = f.Len()
	if f.Store() == nil {
		found.Kind = "raw fingerprints"
		found.text = cli.Number(f.Len(), "raw fingerprint") + ", without checksums"
		return nil
	}
	if err := f.Store().Verify(ctx, g.Threads, nil); err != nil {
		return err
	}
	for _, list := range []func(func(string, error) bool){f.IDs, f.Unmarked} {
		found.TooShort = 0
		for _, err := range list {
			if err != nil {
				return err
			}
			found.TooShort++
		}
	}
	found.Kind, found.Bytes, found.Checksums = f.Store().Kind().String(), f.Store().Bytes(), true
	found.text = fmt.Sprintf("sound: %s, and %s too short for a fingerprint",
		cli.Number(f.Len(), "document"), cli.Number(found.TooShort, "document"))
	return nil
}

func checkPart(ctx context.Context, g *cli.Globals, found *finding, kind store.Kind) error {
	f, err := store.Open(found.Path, kind)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Verify(ctx, g.Threads, nil); err != nil {
		return err
	}
	if kind == store.KindSegment {
		s, err := segment.Open(f)
		if err != nil {
			return fmt.Errorf("%s: %w", found.Path, err)
		}
		defer s.Close()
		if err := s.Check(); err != nil {
			return fmt.Errorf("%s: %w", found.Path, err)
		}
	}
	if kind == store.KindPostings {
		if found.Documents, _, err = copies.CheckSegment(ctx, found.Path, g.Threads); err != nil {
			return err
		}
	}
	found.Kind, found.Bytes, found.Checksums = kind.String(), f.Bytes(), true
	found.text = fmt.Sprintf("sound: %s, %s", kind, humanize.IBytes(f.Bytes()))
	return nil
}
