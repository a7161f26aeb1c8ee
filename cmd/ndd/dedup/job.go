package dedup

import (
	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/input"
)

// A job is one run of the command.
type job struct {
	g     *cli.Files
	flags *flags
	*settings

	work  *cli.Work   // folder of --work; nil without the flag
	skips input.Tally // input that was not read
}
