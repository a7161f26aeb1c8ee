package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/cmd/ndd/cli"
)

// TestCompletedValues holds the values that are completed against the flags' help, which names them
// all: what is completed is what can be given.
func TestCompletedValues(t *testing.T) {
	root := newRoot(&cli.Globals{})
	completeValues(root)
	seen := 0
	for _, cmd := range append(root.Commands(), root) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok || f.Name == "design" {
				return
			}
			found, directive := complete(cmd, nil, "")
			if directive != cobra.ShellCompDirectiveNoFileComp || len(found) == 0 {
				t.Errorf("%s --%s: %q, %v", cmd.Name(), f.Name, found, directive)
			}
			seen++
			for _, value := range found {
				if name, _, _ := strings.Cut(value, "="); !strings.Contains(f.Usage, name) {
					t.Errorf("%s --%s: %s is completed, and the help has %q", cmd.Name(), f.Name, value, f.Usage)
				}
			}
		})
	}
	if seen < 20 {
		t.Errorf("only %d flags are completed", seen)
	}
}
