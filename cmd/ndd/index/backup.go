package index

import (
	"cmp"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/storage/disk"
)

func newBackup(g *cli.Files) *cobra.Command {
	return &cobra.Command{
		Use:   "backup [flags] INDEX DIR",
		Short: "Copy an index as it is now, also while it is served",
		Long: `Copy INDEX to DIR, with all changes that were acknowledged before the command began.

INDEX may be served and written to meanwhile. On the same file system DIR has hard links,
which take no time and no space. DIR must not exist. 'ndd check DIR' verifies the backup.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes. Servers: ndd help operations"),
		Example: `  ndd backup index /backups/index-monday
  ndd serve -i /backups/index-monday`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("expected two arguments, INDEX and DIR, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(disk.CheckAbsent(args[1]), g.Claim(args[1])); err != nil {
				return err
			}
			r, err := live.Backup(cmd.Context(), g.Disk, args[0], args[1])
			if err != nil {
				return err
			}
			g.Log.Info(fmt.Sprintf("%s: %s, %s linked and %s copied; %s in the log", args[1],
				cli.Number(uint64(r.Files), "file"),
				humanize.IBytes(r.Linked), humanize.IBytes(r.Copied), cli.Number(r.Log.Records, "record")))
			return nil
		},
	}
}
