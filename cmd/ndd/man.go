//go:build man

package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"example.org/ndd/cmd/ndd/cli"
)

func init() { packaging = newMan }

// newMan returns the command that writes the manual pages for packages: ndd(1) and a page for each command.
// SOURCE_DATE_EPOCH sets their date, so that a package can be reproduced byte for byte. Only builds with the tag man
// have this command, because the formatter of the pages takes 0.2 MB.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: `Write a manual page for each command, ndd.1, ndd-dedup.1, ..., into DIR, which is created if needed. ` +
			`Existing pages are replaced.`,
		Example: "  ndd man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cli.OneArg("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			date := time.Now()
			if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
				seconds, err := strconv.ParseInt(epoch, 10, 64)
				if err != nil {
					return cli.Usagef("SOURCE_DATE_EPOCH %q: must be seconds since 1970", epoch)
				}
				date = time.Unix(seconds, 0)
			}
			date = date.UTC()
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "ndd " + buildVersion(), Manual: "ndd",
				Date: &date}, args[0]); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			return nil
		},
	}
}
