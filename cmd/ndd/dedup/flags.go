package dedup

import (
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/near/dedup"
)

// flags are the flags of the command as they were given.
type flags struct {
	docs cli.DocumentFlags
	decisionFlags
	sources sourceFlags
	outputFlags
	format       cli.TableFormat
	memory, work string

	changed func(flag string) bool // reports whether a flag was given, on the command line or in the environment
}

// decisionFlags say which documents are duplicates, and which of them to keep.
type decisionFlags struct {
	distance  int
	threshold cli.Threshold
	verify    string
	sameURL   string
	against   []string
	keep      string
}

func (d *decisionFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&d.distance, "distance", "k", cli.DefaultK, "maximum Hamming distance of fingerprints, 0 to 8")
	d.threshold.Register(f)
	f.StringVar(&d.verify, "verify", verifySketch, "sketch (default), text, exact, jaccard>=X, contained>=X")
	f.StringVar(&d.sameURL, "same-url", "", "first remove documents with the same canonical URL")
	f.Lookup("same-url").NoOptDefVal = dedup.URLFields[0]
	f.StringArrayVar(&d.against, "against", nil, "first remove documents near known ones; repeatable")
	f.StringVar(&d.keep, "keep", "first", "first (default), longest, shortest, newest, source or a field")
}

// outputFlags name the outputs.
type outputFlags struct {
	out, writeKept, annotate, report string

	dryRun bool
}

func (o *outputFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "tables: clusters, kept, dropped, sources, decisions")
	f.StringVar(&o.writeKept, "write-kept", "", "copies of the inputs without duplicates; - filters a pipe")
	f.StringVar(&o.annotate, "annotate", "", "copies of the inputs with the decisions as extra fields")
	f.StringVar(&o.report, "report", "", "HTML report with examples side by side")
	f.BoolVar(&o.dryRun, "dry-run", false, "only report how many documents would be kept and dropped")
}

// againstNames returns the names of the sources.
func (d *decisionFlags) againstNames() string { return strings.Join(d.against, ", ") }
