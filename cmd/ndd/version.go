package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/asm"
	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/numa"
)

func newVersion(g *cli.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, formats, kernels and memory nodes",
		Long: `Print the version of this program, the versions of files and recipes that it
writes, the kernels that it uses, all kernels that this machine supports, and the
machine's memory nodes.`,
		Example: `  ndd version`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			h := numa.New(numa.Options{})
			h.Try()
			fmt.Fprintf(g.Stdout, "ndd %s, %s, %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			fmt.Fprintf(g.Stdout, "file format %d, recipe version %d\n", store.Version, simhash.RecipeVersion)
			fmt.Fprintf(g.Stdout, "kernels %s (of %s)\n", asm.Backend(), strings.Join(asm.Backends(), ", "))
			_, err := fmt.Fprintf(g.Stdout, "memory %v\nplacement %s\n", h.Topology(), h)
			for _, note := range h.Notes() {
				_, err = fmt.Fprintf(g.Stdout, "placement: %s\n", note)
			}
			return err
		},
	}
	return cmd
}

// release is the version of a release. The build of a release sets it.
var release string

// buildVersion returns the version of the release or, in other builds, the version that the Go toolchain recorded.
func buildVersion() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
