package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// former begins the key of a command's annotation for a flag of earlier versions.
const former = "former flag "

// FormerFlags makes a command refuse flags of earlier versions with a hint. now maps the name of
// such a flag to its hint, such as "use --input-format".
func FormerFlags(cmd *cobra.Command, now map[string]string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	for name, what := range now {
		cmd.Annotations[former+name] = what
	}
}

// FormerFlag returns the hint for the unknown flag of a parsing error, as the end of a sentence, or
// "" if the flag was not given to [FormerFlags].
func FormerFlag(cmd *cobra.Command, err error) string {
	name, _ := strings.CutPrefix(err.Error(), "unknown flag: --")
	if now := cmd.Annotations[former+name]; now != "" {
		return ": " + now
	}
	return ""
}

// FormerCommand returns a hidden command that replaces one of earlier versions: it fails with a
// hint.
func FormerCommand(name, now string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return Usagef("there is no command %s any more: %s", name, now)
		},
	}
}
