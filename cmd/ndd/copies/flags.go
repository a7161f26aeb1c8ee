package copies

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
)

// signatureFlags are the flags of ndd copies and ndd copies sign that define documents and signatures.
type signatureFlags struct {
	docs   cli.DocumentFlags
	method string
	file   *cli.MethodFile
	memory string
}

func (f *signatureFlags) register(cmd *cobra.Command, g *cli.Files) {
	f.docs.RegisterReading(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVar(&f.method, "method", "auto", "auto, spotsigs, ccdet, winnow or shingles")
	f.file.Register(cmd)
	cmd.Flags().StringVar(&f.memory, "memory", "", "memory limit, such as 4GiB (default: what is available)")
}

// options returns the options of signatures. If there are signature files, the options are their recipe, and flags must
// not differ from it.
func (f *signatureFlags) options(g *cli.Files, files []*copies.File) (o copies.Options, err error) {
	if len(files) > 0 {
		if o, err = files[0].Recipe().Options(); err != nil {
			return o, fmt.Errorf("%s: %w", files[0].Path(), err)
		}
	}
	method, err := copies.ParseMethod(f.method)
	if err != nil {
		return o, cli.Usagef("--method %q: %w", f.method, err)
	}
	o.Join.Threads = g.Threads
	if g.Given["method"] || o.Method == "" {
		o.Method = method
	}
	if o, err = f.file.Signatures(method, o); err != nil {
		return o, err
	}
	if _, err := copies.NewSigner(context.Background(), o); err != nil {
		return o, cli.Usagef("%w", err)
	}
	for _, k := range files {
		if err := o.Recipe().Compatible("the documents", *k.Recipe(), k.Path()); err != nil {
			return o, err
		}
	}
	return o, nil
}

// copiesFlags are the flags of ndd copies.
type copiesFlags struct {
	signatures signatureFlags
	threshold  float64
	out        string
	against    []string
	format     cli.TableFormat
}

func (f *copiesFlags) register(cmd *cobra.Command, g *cli.Files) {
	f.signatures.register(cmd, g)
	fl := cmd.Flags()
	fl.Float64Var(&f.threshold, "threshold", 0, "lowest score of a reported pair (default: each method's own)")
	fl.StringVarP(&f.out, "output", "o", "", "file to write instead of standard output")
	f.format.Register(cmd)
	fl.StringArrayVar(&f.against, "against", nil, "signature file to compare with; may be given more than once")
}

// check checks the flags of the output.
func (f *copiesFlags) check(g *cli.Files) error {
	if err := f.format.CheckFile(g, f.out); err != nil {
		return err
	}
	return g.CheckOutput(f.out, copies.Columns...)
}

// join puts the flags of a join into o.
func (f *copiesFlags) join(g *cli.Files, o *copies.Options) error {
	if g.Given["threshold"] && !(f.threshold > 0 && f.threshold <= 1) {
		return cli.Usagef("--threshold %g: must be above 0 and at most 1", f.threshold)
	}
	o.Threshold = f.threshold
	return f.signatures.file.Join(o)
}
