package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestFormer: flags and commands of earlier versions are refused with the way to do the same now,
// whatever stands behind them.
func TestFormer(t *testing.T) {
	root := &cobra.Command{Use: "ndd", SilenceErrors: true, SilenceUsage: true}
	now := &cobra.Command{Use: "now", RunE: func(*cobra.Command, []string) error { return nil }}
	FormerFlags(now, map[string]string{"old": "--new does that"})
	root.AddCommand(now, FormerCommand("before", "'ndd now' does that"))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usagef("%w%s", err, FormerFlag(cmd, err)) })
	for line, want := range map[string]string{
		"now --old=3":      "unknown flag: --old: --new does that",
		"now --older":      "unknown flag: --older",
		"before --flag -x": "there is no command before any more: 'ndd now' does that",
		"before --help":    "there is no command before any more: 'ndd now' does that",
	} {
		root.SetArgs(strings.Fields(line))
		if err := root.Execute(); !errors.Is(err, ErrUsage) || err.Error() != ErrUsage.Error()+": "+want {
			t.Errorf("ndd %s: %v", line, err)
		}
	}
}
