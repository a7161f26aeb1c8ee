package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/index"
	"example.org/ndd/engine"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

func newCheck(g *cli.Files) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [flags] INDEX|FILE...",
		Short: "Verify every byte of indexes and fingerprint files",
		Long: `Verify every checksum of indexes, files of an index, and fingerprint files, then
read all content and check that it is consistent. If anything is wrong, the exit
status is 3 and the message names the file, section and offset.`,
		Example: `  ndd check index
  ndd check index/00000001.segment pages.ndf`,
		Annotations: cli.HelpOf("Guide: ndd help indexes. Servers: ndd help operations"),
		Args:        cli.SomeArgs("INDEX or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var failures []error // one for each path that is not sound
			for _, path := range args {
				sound, err := check(cmd.Context(), g, path)
				if canceled := cmd.Context().Err(); canceled != nil {
					return canceled
				}
				if err == nil {
					_, err = fmt.Fprintf(g.Stdout, "%s: %s\n", path, sound)
				}
				failures = append(failures, err)
			}
			return errors.Join(failures...)
		},
	}
	g.RegisterRaw(cmd)
	return cmd
}

// check verifies the index or file at a path, and returns its description.
func check(ctx context.Context, g *cli.Files, path string) (sound string, err error) {
	if cli.IsStream(path) {
		return checkFingerprints(ctx, g, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return checkIndex(ctx, g, path)
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err != nil:
		return "", err
	case !ok, g.Raw, kind == store.KindFingerprints, kind == store.KindLog: // a log is refused
		return checkFingerprints(ctx, g, path)
	}
	return checkPart(ctx, g, path, kind)
}

func checkIndex(ctx context.Context, g *cli.Files, path string) (string, error) {
	bar := g.Progress.NewBar("verifying", 0, cli.BytesUnit)
	x, err := engine.Open(ctx, path, engine.OpenOptions{Threads: g.Threads, Progress: bar.SetOf})
	bar.End()
	if err != nil {
		return "", err
	}
	defer x.Close()
	if err := x.Check(ctx); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	s, d := x.Stats(), x.Design()
	return fmt.Sprintf("sound: %s, %s, k = %d, %s", cli.Number(s.Documents, "document"),
		cli.Number(s.Fingerprints, "fingerprint"), d.K, cli.Number(len(d.Tables), "table")) +
		droppedText(s.Deleted, s.Expired) + logText(live.Unwrap(x).Recovery.Log), nil
}

// droppedText describes the documents that a merge will drop.
func droppedText(deleted, expired uint64) string {
	if deleted == 0 && expired == 0 {
		return ""
	}
	return "; " + index.GoneText(deleted, expired) + " to be dropped by a merge"
}

// logText describes the log of an index. It is "" for an empty log.
func logText(r wal.Report) (text string) {
	if r.Records > 0 {
		text = "; the log has " + cli.Number(r.Records, "record")
	}
	if r.TornBytes > 0 {
		text += fmt.Sprintf("; %d bytes at the end of %s are an incomplete record, after a crash or because the "+
			"file was cut: the next writer removes them", r.TornBytes, r.TornFile)
	}
	return text
}

func checkFingerprints(ctx context.Context, g *cli.Files, path string) (sound string, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	f, err := g.OpenFingerprints(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if f.Store() == nil {
		return cli.Number(f.Len(), "raw fingerprint") + ", without checksums", nil
	}
	if err := f.Verify(ctx, g.Threads); err != nil {
		return "", err
	}
	tooShort := uint64(0)
	for _, list := range []func(func(string, error) bool){f.IDs, f.Unmarked} {
		tooShort = 0
		for _, err := range list {
			if err != nil {
				return "", err
			}
			tooShort++
		}
	}
	return fmt.Sprintf("sound: %s, and %s too short for a fingerprint", cli.Number(f.Len(), "document"),
		cli.Number(tooShort, "document")), nil
}

func checkPart(ctx context.Context, g *cli.Files, path string, kind store.Kind) (string, error) {
	f, err := store.Open(path, kind)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := f.Verify(ctx, g.Threads, nil); err != nil {
		return "", err
	}
	switch kind {
	case store.KindSegment:
		s, err := segment.Open(f)
		if err == nil {
			defer s.Close()
			err = s.Check()
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	case store.KindSignatures:
		return checkSignatures(ctx, g, path)
	}
	return fmt.Sprintf("sound: %s, %s", kind, humanize.IBytes(f.Bytes())), nil
}

func checkSignatures(ctx context.Context, g *cli.Files, path string) (string, error) {
	f, err := copies.Open(ctx, path, g.Threads)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := f.Check(); err != nil {
		return "", err
	}
	return fmt.Sprintf("sound: signature file, %s, method %s", cli.Number(f.Documents(), "document"), f.Recipe().Method), nil
}
