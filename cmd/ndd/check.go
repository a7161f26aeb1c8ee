package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

func newCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check INDEX|FILE...",
		Short: "Verify every byte of indexes and fingerprint files",
		Long: `Verify every checksum of indexes, files of an index, and fingerprint files, then
read all content and check that it is consistent. If anything is wrong, the exit
status is 3 and the message names the file, section and offset.`,
		Example: `  ndd check index
  ndd check index/00000001.segment pages.ndf`,
		Args: someArgs("INDEX or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var wrong []error // of each that is
			for _, path := range args {
				err := g.check(cmd.Context(), path)
				if ended := cmd.Context().Err(); ended != nil {
					return ended
				}
				wrong = append(wrong, err)
			}
			return errors.Join(wrong...)
		},
	}
}

func (g *globals) check(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return g.checkIndex(ctx, path)
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case !ok, kind == store.KindFingerprints:
		return g.checkPrints(ctx, path)
	}
	return g.checkPart(ctx, path, kind)
}

func (g *globals) checkIndex(ctx context.Context, path string) error {
	bar := g.newBar("verifying", 0, bytesUnit)
	x, err := engine.Open(ctx, path, engine.OpenOptions{Threads: g.threads,
		Progress: func(done, _ uint64) { bar.set(int64(done)) }})
	bar.end()
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Check(ctx); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s := x.Stats()
	fmt.Fprintf(g.stdout, "%s: sound: %s, %s, k = %d, %s\n", path,
		number(s.Documents, "document"), number(s.Fingerprints, "fingerprint"), x.Design().K, number(len(x.Design().Tables), "table"))
	return nil
}

func (g *globals) checkPrints(ctx context.Context, path string) (err error) {
	defer store.CatchFault(&err)()
	f, err := ndf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Store() == nil {
		fmt.Fprintf(g.stdout, "%s: %s raw fingerprints, which have no checksums\n", path, humanize.Comma(int64(f.Len())))
		return nil
	}
	if err := f.Store().Verify(ctx, g.threads, nil); err != nil {
		return err
	}
	unmarked := 0
	for _, list := range []func(func(string, error) bool){f.IDs, f.Unmarked} {
		unmarked = 0
		for _, err := range list {
			if err != nil {
				return err
			}
			unmarked++
		}
	}
	fmt.Fprintf(g.stdout, "%s: sound: %s, and %s too short for a fingerprint\n", path,
		number(f.Len(), "document"), number(unmarked, "document"))
	return nil
}

func (g *globals) checkPart(ctx context.Context, path string, kind store.Kind) error {
	f, err := store.Open(path, kind)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Verify(ctx, g.threads, nil); err != nil {
		return err
	}
	if kind == store.KindSegment {
		s, err := segment.Open(f)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer s.Close()
		if err := s.Check(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	fmt.Fprintf(g.stdout, "%s: sound: %s, %s\n", path, kind, humanize.IBytes(f.Bytes()))
	return nil
}
