// Package design holds the command design, which compares the possible tables of an index by size and
// speed. The commands design and build share the types Flags and Choice, so that they choose the same
// tables for the same flags.
package design

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/permute"
)

type designCommand struct {
	n, sample string
	format    string
	all       bool
	recursion bool
	reference bool
	choice    Choice
}

// designDocs is the number of fingerprints in the paper.
const designDocs = "8e9"

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDesign(g.NewFiles())}
}

func newDesign(g *cli.Files) *cobra.Command {
	var d designCommand
	cmd := &cobra.Command{
		Use:   "design [flags]",
		Short: "Compare table designs: memory and time per query",
		Long: `Compare the table designs for an index: bytes, probes, candidates and time per query.

The design that 'ndd build' would choose is marked by >. A star marks designs that are
clearly faster than all smaller ones. Times are for this machine, measured at the start.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes. Terms: ndd help concepts",
			"Index: fingerprints=N distance=N memory=SIZE ids=WHAT sample=FILE raw",
			"Tables: for=PURPOSE tables=N design=NAME layout=NAME seed=N all recursion reference"),
		Example: `  ndd design -n 8e9 -k 3 --memory 128GiB
  ndd design -k 5 -n 100M
  ndd design --all -k 2
  ndd design --sample pages.ndf --format json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(g, cmd) },
	}
	// Register the flags that build has, too, and then those of this command.
	d.choice.Register(cmd)
	f := cmd.Flags()
	f.StringVarP(&d.n, "fingerprints", "n", designDocs,
		"number of fingerprints (default 8e9, or those of --sample)")
	f.StringVar(&d.sample, "sample", "", "fingerprint file that is typical of the data")
	d.choice.RegisterIDs(cmd, "store names (IDs), rows (numbers) or none")
	cli.WordVar(f, &d.choice.Request.Purpose, "for", "query time to minimise: online or batch", plan.Online, plan.Batch)
	cli.WordVar(f, &d.format, "format", "format of the output: table or json", "table", "json")
	g.RegisterRaw(cmd)
	f.BoolVar(&d.all, "all", false, "also list designs without a star")
	f.BoolVar(&d.reference, "reference", false, "print the times of a fixed reference machine")
	f.BoolVar(&d.recursion, "recursion", false, "print the paper's own table, X(64, k, d), next to our designs")
	return cmd
}

func (d *designCommand) run(g *cli.Files, cmd *cobra.Command) error {
	if d.recursion {
		return d.runRecursion(g)
	}
	p, err := d.plan(g, cmd)
	if err != nil {
		return err
	}
	if !d.reference {
		budget, err := g.Budget("")
		if err != nil {
			return err
		}
		m, err := plan.Measure(budget.Free())
		if err != nil {
			return fmt.Errorf("measuring this machine: %w: --reference prints the times of another one", err)
		}
		p = p.ForMachine(m)
	}
	if d.format == "table" {
		return d.write(g.Stdout, p)
	}
	r := &p.Request
	return g.WriteJSON(planJSON{r.Fingerprints, r.K, r.Memory, r.Purpose, distribution.Bound(r.Fingerprints), p.Choice,
		p.Reasons, p.Options})
}

// runRecursion prints the paper's table for -n and -k.
func (d *designCommand) runRecursion(g *cli.Files) error {
	if err := g.RejectFlags("cannot be combined with --recursion", "sample", "memory", "tables", "design", "layout", "all", "format",
		"for", "ids", "reference"); err != nil {
		return err
	}
	n, err := cli.ParseCount(d.n)
	if err != nil {
		return cli.Usagef("-n %q: %w", d.n, err)
	}
	if err := d.choice.Parse(); err != nil {
		return err
	}
	return writeRecursion(g.Stdout, n, d.choice.Request.K)
}

// paperDesigns are designs of the paper that are shown for comparison.
var paperDesigns = []string{"paper-16", "paper-20"}

// plan returns the plan that a build with these flags would have.
func (d *designCommand) plan(g *cli.Files, cmd *cobra.Command) (*plan.Plan, error) {
	if err := d.choice.Parse(); err != nil {
		return nil, err
	}
	// Consider all designs, if requested.
	r := &d.choice.Request
	if d.all && r.K == 3 && r.Tables == 0 && r.Designs == nil {
		r.Designs = permute.Catalogue(r.K, Seed)
		for _, name := range paperDesigns {
			design, err := permute.ByName(name, r.K, Seed)
			if err != nil {
				return nil, err
			}
			r.Designs = append(r.Designs, design)
		}
	}
	// Take the number of fingerprints from the flag or from the sample.
	n, err := cli.ParseCount(d.n)
	if err != nil {
		return nil, cli.Usagef("-n %q: %w", d.n, err)
	}
	if d.sample == "" || cmd.Flags().Changed("fingerprints") {
		r.Fingerprints = n
	}
	if d.sample != "" {
		files, err := g.OpenFingerprintFiles([]string{d.sample})
		if err != nil {
			return nil, err
		}
		defer cli.CloseFiles(files)
		c, err := CollectFiles(cmd.Context(), files)
		if err != nil {
			return nil, err
		}
		c.Request(r)
	}
	return d.choice.Choose(cmd.Context())
}

// planJSON is the output with --format json.
type planJSON struct {
	Fingerprints uint64        `json:"fingerprints"`
	K            int           `json:"k"`
	Memory       uint64        `json:"memory,omitempty"`
	For          plan.Purpose  `json:"for"`
	BoundBits    float64       `json:"bound_bits"` // entropy in bits per fingerprint
	Choice       plan.Option   `json:"choice"`
	Why          []string      `json:"why"`
	Designs      []plan.Option `json:"designs"`
}

func (d *designCommand) write(w io.Writer, p *plan.Plan) error {
	// Name the request.
	r := &p.Request
	limit := "no limit on memory"
	if r.Memory > 0 {
		limit = plan.Size(r.Memory) + " of memory"
	}
	fmt.Fprintf(w, "%s, k = %d, %s\n\n", cli.Number(r.Fingerprints, "fingerprint"), r.K, limit)
	// List the designs.
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tdesign\tlayout\ttables\tleading\tradius\tprobes\tcandidates\tbytes\teach\tonline\tbatch\tfits\t")
	for i := range p.Options {
		o := &p.Options[i]
		if !d.all && !o.Frontier && !(o.Fits && r.Memory > 0) {
			continue
		}
		mark, fits := "", "no"
		if o.Frontier {
			mark = "*"
		}
		if o.Name == p.Choice.Name && o.Layout == p.Choice.Layout {
			mark += ">"
		}
		if o.Fits {
			fits = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\t%s\t%s\t\n", mark, o.Name, o.Layout, o.Tables,
			span(o.Leading), span(o.Radius), plan.Count(o.Probes, ""), plan.Count(o.Candidates, ""), plan.Size(o.Bytes),
			o.PerFingerprint(r.Fingerprints), plan.Duration(o.OnlineNS), plan.Duration(o.BatchNS), fits)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	// Give the reasons, and what the figures mean.
	fmt.Fprintln(w)
	for _, s := range p.Reasons {
		fmt.Fprintln(w, s)
	}
	machine := "this machine, measured just now. The choice uses the times of --reference, so it is the same on every machine"
	if d.reference {
		machine = "the reference machine: yours may take half or twice as long"
	}
	_, err := fmt.Fprintf(w, "Bytes are within 1 %% for uniform fingerprints. Times are for one thread, if half of the queries "+
		"have an answer.\nThey are those of %s.\n", machine)
	return err
}

func span(v [2]int) string {
	if v[0] == v[1] {
		return strconv.Itoa(v[0])
	}
	return fmt.Sprintf("%d-%d", v[0], v[1])
}
