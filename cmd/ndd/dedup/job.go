package dedup

import (
	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
)

// A job is one run of the command.
type job struct {
	g     *cli.Files
	flags *flags
	*settings

	work  *cli.Work      // of --work; nil without it
	skips document.Tally // input that was not read
}
