package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ndd/asm"
	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
	"ndd/numa"
)

func newVersion(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, formats, kernels and memory nodes",
		Long: `Print the version of this program, the versions of files and recipes that it
writes, the kernels that it uses of those that this machine supports, and the
machine's memory nodes.`,
		Example: `  ndd version`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(g.stdout, "ndd %s, %s, %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			fmt.Fprintf(g.stdout, "file format %d, recipe version %d\n", store.Version, simhash.RecipeVersion)
			fmt.Fprintf(g.stdout, "kernels %s (of %s)\n", asm.Kernel(), strings.Join(asm.Kernels(), ", "))
			h := numa.New(numa.Options{})
			h.Try()
			fmt.Fprintf(g.stdout, "memory %s\nplacement %s\n", h.Topology(), h)
			for _, n := range h.Notes() {
				fmt.Fprintf(g.stdout, "placement: %s\n", n)
			}
			return nil
		},
	}
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
