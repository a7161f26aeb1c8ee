package index

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/index/live"
)

// RegisterConflict adds the flag --on-conflict.
func RegisterConflict(cmd *cobra.Command, text *string) {
	cmd.Flags().StringVar(text, "on-conflict", "replace", "what becomes of a document whose ID is taken: replace (the stored one is deleted), keep (the stored one stays), or error")
}

// ParseConflict returns the value of --on-conflict.
func ParseConflict(text string) (live.OnConflict, error) {
	for c, name := range map[live.OnConflict]string{engine.Replace: "replace", engine.Keep: "keep", engine.Refuse: "error"} {
		if text == name {
			return c, nil
		}
	}
	return 0, cli.Usagef("--on-conflict %q: must be replace, keep or error", text)
}
