package index

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/design"
	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/distribution"
	"ndd/engine/index/live"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/permute"
)

func newBuild(g *cli.Globals) *cobra.Command {
	var choice design.Choice
	var out string
	var add adding
	var lengths bool
	var madeBy string
	cmd := &cobra.Command{
		Use:   "build -o INDEX | --add INDEX FILE...",
		Short: "Build an index from fingerprint files",
		Long: `Build an index, a folder, from fingerprint files: .ndf, or raw arrays of
little-endian 64-bit integers (.bin). IDs are those in the files, or else row
numbers from 0 over all files. The index appears when it is complete.

Tables and layout are chosen by a fixed cost model from the number of
fingerprints, the distance, --memory and a sample of the data: the same input
gives the same index on every machine. With --memory, the index fits in it and
queries take least time; without, memory times query time is smallest. With
--measure, this machine's own costs decide. 'ndd design' shows what there is to
choose from, 'ndd stats' and --verbose why the choice was made.

--memory limits the index in use. Building uses at most 15/16 of the memory
that this machine, or the process's control group, has left. 13 bytes per
document suffice; with less than 9 it uses a temporary file beside INDEX, and
with too little it fails at once. The program itself takes 32 MiB, and of what
ulimit -d or -v leave 48 or 128 MiB more are for stacks and the like.

--add adds the documents to an index that exists, in its own tables and layout:
all of them or none. A document whose ID is there already takes the place of the
stored one, unless --on-conflict says otherwise. The index must not be served.`,
		Example: `  ndd build -o index pages.ndf
  ndd build --add index more.ndf
  ndd build -o index --memory 16GiB pages.ndf
  ndd build -o index -k 3 --tables 10 base.bin`,
		Args: cli.SomeArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := choice.Parse(); err != nil {
				return err
			}
			if add.dir != "" {
				return add.run(cmd, g, args, choice.Request.IDs, madeBy)
			}
			for _, name := range add.flags() {
				if cmd.Flags().Changed(name) {
					return cli.Usagef("--%s applies only with --add", name)
				}
			}
			if out == "" {
				return cli.Usagef("no -o INDEX given")
			}
			if out == document.Stdin {
				return cli.Usagef("-o -: an index is a folder, and cannot be written to standard output")
			}
			if lengths && choice.Request.IDs == plan.IDsNone {
				return cli.Usagef("--lengths are of documents, and --ids none keeps none")
			}
			files, err := g.OpenPrints(args)
			if err != nil {
				return err
			}
			defer cli.ClosePrints(files)
			if err := saidRecipe(files, madeBy); err != nil {
				return err
			}
			return buildIndex(cmd.Context(), g, out, files, &choice, lengths)
		},
	}
	choice.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder to create for the index; must not exist")
	choice.RegisterIDs(cmd, plan.IDsNames, "what is kept of documents: names (the IDs of the files, where they have some, and row numbers), rows (numbers) or none (queries answer fingerprints)")
	cmd.Flags().BoolVar(&lengths, "lengths", false, "keep the length of each document's text, 4 bytes, for --max-length-ratio of query, batch and serve; needs .ndf files")
	cmd.Flags().StringVar(&madeBy, "recipe", "", "how fingerprints were made that came without a recipe, as text or .bin: minwise, minwise-pairs, simhash or a JSON file; the index can then be asked about documents")
	add.register(cmd)
	return cmd
}

// saidRecipe says by which recipe fingerprints were made, if that is named: with as many fingerprints for each document as they have.
func saidRecipe(files []*ndf.File, nameOrFile string) error {
	if nameOrFile == "" {
		return nil
	}
	r, err := cli.RecipeOf(nameOrFile)
	if err != nil {
		return err
	}
	for _, f := range files {
		made := r
		if made.Sketch == simhash.SketchMinwise && f.PrintsEach() == 2 {
			made.Prints = 2
		}
		if err := f.MadeBy(&made); err != nil {
			return err
		}
	}
	return nil
}

func buildIndex(ctx context.Context, g *cli.Globals, out string, files []*ndf.File, choice *design.Choice, lengths bool) error {
	docs, rows := uint64(0), uint64(0)
	for _, f := range files {
		docs += f.Len()
		rows += f.Len() * uint64(f.PrintsEach())
	}
	o := engine.BuildOptions{Options: segment.Options{Threads: g.Threads, Disk: g.Disk}, Replace: g.Force, Lengths: lengths, NoIDs: choice.Request.IDs == plan.IDsRows}
	o.NoDocs = choice.Request.IDs == plan.IDsNone
	err := planBuild(g, out, rows, choice.Measure, &o)
	if err != nil {
		return err
	}
	p, err := chooseTables(ctx, g, files, choice, lengths, o.Budget)
	if err != nil {
		return err
	}
	design, layout := p.Choice.Design, p.Choice.Layout
	bar := g.NewBar("building", int64(len(design.Tables)+1), cli.CountUnit)
	o.Design, o.Table.Layout, o.Choice = design, layout, live.ChoiceOf(p)
	o.Progress = func(_ string, part, _ int) { bar.Set(int64(part)) }
	err = engine.Build(ctx, out, files, o)
	bar.End()
	if err != nil {
		return err
	}
	said := documents(&p.Request)
	if rows > docs {
		said = cli.Number(docs, "document") + " with two fingerprints each"
	}
	g.Log.Info(fmt.Sprintf("built %s: %s, k = %d, %s with %s leading bits (design %s, %s layout)",
		out, said, design.K, cli.Number(len(design.Tables), "table"), leadingBits(&design), design.Name, layout))
	for _, why := range p.Why {
		g.Log.Debug(why)
	}
	return nil
}

// leadingBits says how many leading bits the tables of a design have.
func leadingBits(d *permute.Design) string {
	least, most := d.Leading()
	if most > least {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return strconv.Itoa(least)
}

// documents says how many there are, and of how many fingerprints when these are fewer.
func documents(r *plan.Request) string {
	if r.Fingerprints == r.Documents {
		return cli.Number(r.Documents, "document")
	}
	if r.Fingerprints == 1 {
		return cli.Number(r.Documents, "document") + " with one fingerprint"
	}
	return fmt.Sprintf("%s with about %s distinct fingerprints", cli.Number(r.Documents, "document"), plan.Count(float64(r.Fingerprints)))
}

const (
	// choiceBytes is what the choice of tables leaves for the collector while the index is built:
	// samples, and a count of distinct fingerprints.
	choiceBytes = 16 << 20
	// trialBytes is what trying the layouts takes for a fingerprint, in a dozen tables.
	trialBytes = 256
)

// planBuild says what memory building will take, before it takes any, and refuses what there is not
// the memory for.
func planBuild(g *cli.Globals, out string, docs uint64, measure bool, o *engine.BuildOptions) error {
	o.Budget = memory.ForProgram(g.Machine.Limit(0))
	limit := o.Budget.Limit()
	// Where there is not even this much, there is less than every plan needs.
	o.Budget.Reserve("choosing tables", choiceBytes)
	p, err := live.PlanBuild(out, docs, o)
	if err != nil {
		return memory.Advise(err, "that is for building, whatever --memory the index may take later; --threads 1 takes a little less")
	}
	most := p.Bytes
	if measure {
		most = max(most, plan.NeedBytes(docs, o.Budget), distribution.DistinctExact*trialBytes)
	}
	where := ""
	if p.External {
		where = ", and a temporary file for sorted keys"
	}
	g.Log.Debug(fmt.Sprintf("building uses at most %s of memory beside the input%s; %s are available (%s)",
		humanize.IBytes(o.Budget.Total(most+choiceBytes)), where, humanize.IBytes(limit.Bytes), limit.Source))
	return nil
}

// chooseTables returns the plan for the files' fingerprints. What it needed for that is given back before
// it returns.
func chooseTables(ctx context.Context, g *cli.Globals, files []*ndf.File, choice *design.Choice, lengths bool, b *memory.Budget) (*plan.Plan, error) {
	c, err := design.CollectFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	if c.Request(&choice.Request); lengths {
		choice.Request.NameBytes += 4 * c.Documents
	}
	p, err := choice.Choose(ctx, g, c, b)
	if err != nil {
		return nil, err
	}
	p.Request.Sample, c = nil, nil
	debug.FreeOSMemory()
	return p, nil
}
