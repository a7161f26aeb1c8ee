package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/engine/corpus/input"
)

// ShardOf parses the value i/N of --shard. For "" it returns 0 and 1.
func ShardOf(s string) (i, n int, err error) {
	if s == "" {
		return 0, 1, nil
	}
	first, second, ok := strings.Cut(s, "/")
	a, err1 := strconv.ParseUint(first, 10, 31)
	b, err2 := strconv.ParseUint(second, 10, 31)
	if !ok || err1 != nil || err2 != nil || a >= b {
		return 0, 0, Usagef("--shard %q: must be i/N, with i from 0 to N-1", s)
	}
	return int(a), int(b), nil
}

// A ShareFlag is the flag --shard of commands that read a share of their files.
type ShareFlag struct{ value string }

// Register adds the flag.
func (s *ShareFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.value, "shard", "", "read only one of N shares of the files: 0/N to N-1/N")
}

// Share returns the share, or nil without the flag. All shares need the same files with the same sizes.
func (s *ShareFlag) Share(ctx context.Context, g *Files, inputs []string) (*input.Share, error) {
	if s.value == "" {
		return nil, nil
	}
	i, n, err := ShardOf(s.value)
	if err != nil {
		return nil, err
	}
	if n > sharesMax {
		return nil, Usagef("--shard %s: at most %d shares", s.value, sharesMax)
	}
	if err := ReadOnce(inputs); err != nil {
		return nil, err
	}
	share, err := input.NewShare(ctx, inputs, i, n)
	if err == nil {
		g.noFiles = share.Files == 0
		g.Log.Info(fmt.Sprintf("share %d/%d: %s", i, n, Number(share.Files, "file")))
	}
	return share, err
}

// sharesMax is the maximum number of shares.
const sharesMax = 100_000
