package serve

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/server"
)

// registerLimits adds the flags that bound what clients may have of the server.
func registerLimits(f *pflag.FlagSet, l *server.Limits) {
	*l = server.DefaultLimits()
	f.IntVar(&l.Connections, "max-connections", l.Connections, "connections open at a time; at the limit the one that has been idle longest is closed")
	f.Var((*bytesFlag)(&l.Body), "max-body", "bytes of a request's body")
	f.IntVar(&l.Documents, "max-documents", l.Documents, "documents a request may insert or delete")
	f.IntVar(&l.Fingerprints, "max-fingerprints", l.Fingerprints, "fingerprints in a request of /v1/batch")
	f.Var((*bytesFlag)(&l.Answer), "max-answer", "bytes of ids in an answer in JSON; those beyond are counted and left out")
	f.Var((*bytesFlag)(&l.RequestMemory), "request-memory", "memory of all bodies and answers under way, of which one client may have a quarter")
	f.DurationVar(&l.Timeout, "timeout", l.Timeout, "time for a request, from the end of its body to the beginning of its answer; of a batch, while it is worked on")
	f.DurationVar(&l.Queue, "max-queue", l.Queue, "time that queries may wait when there are more than can be answered; beyond it they are refused with 429")
}

// limitFlags are the flags of registerLimits.
var limitFlags = []string{"max-connections", "max-body", "max-documents", "max-fingerprints", "max-answer", "request-memory", "timeout", "max-queue"}

// refuseZero returns an error where a limit of 0 is asked for, which some programs take for none: no limit can be taken away.
func refuseZero(f *pflag.FlagSet) error {
	for _, name := range limitFlags {
		switch given := f.Lookup(name); given.Value.String() {
		case "0", "0 B", "0s":
			return cli.Usagef("--%s 0: must be more than 0; there is no way to serve without this limit", name)
		}
	}
	return nil
}

// bytesFlag is a number of bytes as people write it: 8MiB. It is a pflag.Value.
type bytesFlag int64

func (b *bytesFlag) String() string { return humanize.IBytes(uint64(*b)) }

// Set takes a number with or without a unit.
func (b *bytesFlag) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > 1<<62 {
		return fmt.Errorf("must be a number of bytes, such as 8MiB")
	}
	*b = bytesFlag(n)
	return nil
}

// Type returns what a command's help calls it.
func (*bytesFlag) Type() string { return "size" }
