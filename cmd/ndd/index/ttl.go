package index

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// A TTL is the value of --ttl: how long documents are kept.
type TTL time.Duration

// RegisterTTL adds the flag --ttl.
func RegisterTTL(cmd *cobra.Command, ttl *TTL) {
	cmd.Flags().Var(ttl, "ttl", "how long documents that are added from now on are kept, such as 90d, 36h or 10m (default: forever)")
}

// String returns the value as Set reads it.
func (f *TTL) String() string {
	if *f == 0 {
		return ""
	}
	return time.Duration(*f).String()
}

// Type returns what the help calls the value.
func (f *TTL) Type() string { return "duration" }

// Set reads a duration, or a number of days.
func (f *TTL) Set(text string) error {
	var ttl time.Duration
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n != n || n < 0 || n > 100*366 {
			return cli.Usagef("%q: must be a time such as 90d, 36h or 10m", text)
		}
		ttl = time.Duration(n * 24 * float64(time.Hour))
	} else if d, err := time.ParseDuration(text); err == nil {
		ttl = d
	}
	if ttl < time.Second {
		return cli.Usagef("%q: must be a time of at least a second, such as 90d, 36h or 10m", text)
	}
	*f = TTL(ttl)
	return nil
}
