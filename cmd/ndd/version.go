package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ndd/asm"
	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
	"ndd/numa"
)

func newVersion(g *cli.Globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, formats, kernels and memory nodes",
		Long: `Print the version of this program, the versions of files and recipes that it
writes, the kernels that it uses of those that this machine supports, and the
machine's memory nodes.`,
		Example: `  ndd version
  ndd version --format json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionHere()
			if format == "json" {
				return g.WriteJSON(v)
			}
			return v.write(g.Stdout)
		},
	}
	cli.WordVar(cmd.Flags(), &format, "format", "output format: text or json", "text", "json")
	return cmd
}

// versionInfo is the output of version.
type versionInfo struct {
	Version       string   `json:"version"`
	Go            string   `json:"go"`
	OS            string   `json:"os"`
	Arch          string   `json:"arch"`
	FileFormat    int      `json:"file_format"`
	RecipeVersion int      `json:"recipe_version"`
	Kernel        string   `json:"kernel"`
	Kernels       []string `json:"kernels"` // supported by this machine and build
	Memory        string   `json:"memory"`
	Placement     string   `json:"placement"`
	Notes         []string `json:"placement_notes"` // settings that the system refuses
}

func versionHere() versionInfo {
	h := numa.New(numa.Options{})
	h.Try()
	return versionInfo{
		Version: buildVersion(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		FileFormat: store.Version, RecipeVersion: simhash.RecipeVersion,
		Kernel: asm.Backend(), Kernels: asm.Backends(),
		Memory: fmt.Sprint(h.Topology()), Placement: h.String(), Notes: append([]string{}, h.Notes()...),
	}
}

func (v *versionInfo) write(w io.Writer) error {
	fmt.Fprintf(w, "ndd %s, %s, %s/%s\n", v.Version, v.Go, v.OS, v.Arch)
	fmt.Fprintf(w, "file format %d, recipe version %d\n", v.FileFormat, v.RecipeVersion)
	fmt.Fprintf(w, "kernels %s (of %s)\n", v.Kernel, strings.Join(v.Kernels, ", "))
	_, err := fmt.Fprintf(w, "memory %s\nplacement %s\n", v.Memory, v.Placement)
	for _, n := range v.Notes {
		_, err = fmt.Fprintf(w, "placement: %s\n", n)
	}
	return err
}

// release is the version of a release, which its build sets.
var release string

// buildVersion returns the version of the release, or else the one that the Go toolchain stamped
// into the program.
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
