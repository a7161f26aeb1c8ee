package passages

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/work"
	"example.org/ndd/engine/passages"
)

// unitsEnding is the ending of the file with the units of a share.
const unitsEnding = ".units"

// checkShare checks the flags of a command that writes the units of a share.
func (p *passagesRun) checkShare() error {
	if p.unit == "" {
		return cli.Usagef("--shard applies only with --unit: strings of --bytes and --words can begin anywhere, so one run must compare " +
			"the texts of all files")
	}
	if filepath.Ext(p.out) != unitsEnding {
		return cli.Usagef("--shard needs -o FILE%s for the units of the share", unitsEnding)
	}
	if err := p.g.RejectFlags("applies only to the join of the shares, not to --shard", "min-count", "across-only", "strike-all",
		"max-share", "over", "format"); err != nil {
		return err
	}
	if err := p.g.RejectFlags("cannot be combined with --shard: the join decides, and 'ndd filter' copies", "write-kept", "annotate",
		"decisions", "work"); err != nil {
		return err
	}
	return p.g.CheckFile(p.out, "a file of units")
}

// keepUnits writes the units of a share.
func (p *passagesRun) keepUnits(ctx context.Context, inputs []string, config ingest.Config) error {
	return p.g.WriteFile(p.out, func(path string) error {
		w, err := work.CreateShare(p.g.Disk, path, config.Document.Share)
		if err != nil {
			return err
		}
		defer w.Abort()
		_, bar, err := p.g.BeginReading(ctx, inputs, &config, "")
		if err != nil {
			return err
		}
		config.Work = w
		report, err := passages.KeepUnits(ctx, inputs, config, p.o)
		bar.End()
		if err != nil {
			return adviseLength(err, &p.docs)
		}
		partly := p.g.Report(report)
		return cmp.Or(w.Commit(), partly)
	})
}

// findShares reports whether the inputs are the units of shares, which are then joined. It expands patterns.
func (p *passagesRun) findShares(inputs []string) (list []string, err error) {
	isShare := func(path string) bool { return filepath.Ext(path) == unitsEnding }
	if p.isJoin = slices.ContainsFunc(inputs, isShare); !p.isJoin {
		return inputs, nil
	}
	for _, path := range inputs {
		if !isShare(path) {
			return nil, cli.Usagef("%s: not a file of units, and other inputs are: give all shares, or documents", path)
		}
	}
	if p.unit == "" {
		return nil, cli.Usagef("files of units are joined with --unit, --ignore and --min-chars as the shares were made with")
	}
	if err := p.g.RejectFlags("applies only to documents; give it for each share", append(cli.DocumentFlagNames, "shard",
		"work")...); err != nil {
		return nil, err
	}
	if err := p.g.RejectFlags("needs documents, and files of units have none: give --decisions DIR, and then 'ndd filter --dropped DIR'",
		"write-kept", "annotate"); err != nil {
		return nil, err
	}
	return p.g.MatchFiles(inputs, unitsEnding)
}
