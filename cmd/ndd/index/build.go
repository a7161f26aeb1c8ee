// Package index holds the commands that make and maintain an index:
//
//	build     makes an index from fingerprint files, or adds files to it
//	merge     merges its segments into one
//	backup    copies it while it is in use
//	export    writes its documents for other programs and other indexes
//
// It also has the flags of all commands that open an index: verification and loading (OpenFlags), placement of
// tables (Spread), and the time to live and conflicts of new documents (TTL, RegisterConflict).
package index

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/design"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newBuild(g.NewFiles()), newMerge(g.NewFiles()), newBackup(g.NewFiles()), newExport(g.NewFiles())}
}

func newBuild(g *cli.Files) *cobra.Command {
	b := buildRun{g: g}
	cmd := &cobra.Command{
		Use:   "build [flags] (-o INDEX | --add INDEX) FILE...",
		Short: "Build an index from fingerprint files",
		Long: `Build an index, a folder, from fingerprint files.

IDs are those in the files, or else row numbers. Tables are chosen from the number of
fingerprints, the distance, --memory and a sample of the data: the same input gives the
same index on every machine. The index appears when it is complete.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes. Choosing tables: ndd help tuning",
			"Index: output=DIR add=DIR distance=N ids=WHAT sketch=WHAT on-conflict=HOW ttl=TIME recipe=NAME force raw",
			"Tables: memory=SIZE tables=N design=NAME layout=NAME seed=N"),
		Example: `  ndd build -o index pages.ndf
  ndd build --add index more.ndf
  ndd build -o index --memory 16GiB pages.ndf
  ndd build -o index -k 3 --tables 10 base.bin`,
		Args: cli.SomeArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd.Context(), args) },
	}
	b.choice.Register(cmd)
	g.RegisterForce(cmd)
	g.RegisterRaw(cmd)
	f := cmd.Flags()
	f.StringVarP(&b.out, "output", "o", "", "folder to create for the index")
	b.choice.RegisterIDs(cmd, "store names (IDs), rows (numbers) or none")
	cli.SketchVar(f, &b.noSketch, "store sketches of all documents: auto, none")
	f.StringVar(&b.madeBy, "recipe", "", "of .bin: minwise, minwise-pairs, simhash or a file")
	f.StringVar(&b.add, "add", "", "index to add the documents to, instead of -o")
	RegisterConflict(cmd, &b.conflict)
	RegisterTTL(cmd, &b.ttl)
	return cmd
}

// A buildRun is one run of the command build.
type buildRun struct {
	g        *cli.Files
	choice   design.Choice
	out, add string
	noSketch bool
	madeBy   string
	ttl      TTL

	conflict rows.OnConflict
}

func (b *buildRun) check() (err error) {
	if err := b.choice.Parse(); err != nil {
		return err
	}
	none := b.choice.Request.IDs == plan.IDsNone
	switch {
	case b.add != "" && none:
		return cli.Usagef("--ids none applies only to a new index, without --add")
	case b.add != "":
		return b.g.RejectFlags("applies only to a new index, without --add", "output", "force", "sketch", "distance",
			"tables", "design", "layout", "memory")
	case b.out == "":
		err = cli.Usagef("no -o INDEX given")
	case b.out == input.Stdin:
		err = cli.Usagef("-o -: an index is a folder, and cannot be written to standard output")
	}
	return cmp.Or(b.g.RejectFlags("applies only with --add", "ttl"), err)
}

func (b *buildRun) run(ctx context.Context, paths []string) error {
	// Check the flags, and claim the folder of a new index.
	if err := b.check(); err != nil {
		return err
	}
	if b.add == "" {
		if err := b.g.Claim(b.out); err != nil {
			return err
		}
	}
	// Open the fingerprint files.
	files, err := b.g.OpenFingerprintFiles(paths)
	if err != nil {
		return err
	}
	defer cli.CloseFiles(files)
	docs := uint64(0)
	for _, f := range files {
		docs += f.Len()
	}
	// Set the recipe of files without one.
	if b.madeBy != "" {
		r, err := cli.RecipeOf(b.madeBy)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := f.MadeBy(&r); err != nil {
				return err
			}
		}
	}
	// Add the files to an index, or create one.
	if b.add != "" {
		return b.addTo(ctx, files, docs)
	}
	return b.create(ctx, files, docs)
}

// keepSketches reports whether the index stores sketches: all files have them, and neither --ids none nor
// --sketch none is given. A mix of files with and without sketches is an error.
func (b *buildRun) keepSketches(files []*ndf.File) (bool, error) {
	if b.noSketch || b.choice.Request.IDs == plan.IDsNone {
		return false, nil
	}
	have, err := ndf.HaveSketches(files)
	if err != nil {
		err = fmt.Errorf("%w: make its fingerprints again, or leave all sketches out with --sketch none", err)
	}
	return have && slices.ContainsFunc(files, func(f *ndf.File) bool { return f.Len() > 0 }), err
}

func (b *buildRun) create(ctx context.Context, files []*ndf.File, docs uint64) error {
	// Check the memory before the tables are chosen.
	ids, dropped := b.choice.Request.IDs, uint64(0)
	sketches, err := b.keepSketches(files)
	if err != nil {
		return err
	}
	o := live.BuildOptions{Options: segment.Options{Threads: b.g.Threads, Disk: b.g.Disk, NoDocs: ids == plan.IDsNone},
		Replace: b.g.Force, Sketches: sketches, NoSketches: b.noSketch, NoIDs: ids == plan.IDsRows}
	if err := b.planBuild(docs, &o); err != nil {
		return err
	}
	// Choose the tables, and build the index.
	p, err := b.chooseTables(ctx, files)
	if err != nil {
		return err
	}
	design, layout := p.Choice.Design, p.Choice.Layout
	bar := b.g.Progress.NewBar("building", int64(len(design.Tables)+1), cli.CountUnit)
	o.Design, o.Table.Layout = design, layout
	o.Progress = func(_ string, part, _ int) { bar.Set(int64(part)) }
	o.OnConflict, o.OnDrop = b.conflict, func(docs uint64) { dropped = docs }
	err = live.Build(ctx, b.out, files, o)
	bar.End()
	if err != nil {
		return err
	}
	// Report the index.
	p.Request.Documents -= dropped
	p.Request.Fingerprints = min(p.Request.Fingerprints, p.Request.Documents)
	b.g.Log.Info(fmt.Sprintf("built %s: %s%s, k = %d, %s (design %s, %s layout)",
		b.out, documents(&p.Request), sayConflicts(dropped, b.conflict), design.K,
		cli.Number(len(design.Tables), "table"), design.Name, layout))
	for _, why := range p.Reasons {
		b.g.Log.Debug(why)
	}
	return nil
}

// documents returns the number of documents as text, with the number of fingerprints if it is smaller.
func documents(r *plan.Request) string {
	if r.Fingerprints == r.Documents {
		return cli.Number(r.Documents, "document")
	}
	if r.Fingerprints == 1 {
		return cli.Number(r.Documents, "document") + " with one fingerprint"
	}
	return fmt.Sprintf("%s with about %s distinct fingerprints", cli.Number(r.Documents, "document"),
		plan.Count(float64(r.Fingerprints), ""))
}

// choiceBytes bounds the memory that choosing tables leaves unfreed while the index is built: samples and a count of
// distinct fingerprints.
const choiceBytes = 16 << 20

// planBuild logs the memory that the build needs before it is allocated. It returns an error if there is too little.
func (b *buildRun) planBuild(docs uint64, o *live.BuildOptions) error {
	o.Budget = memory.ForProgram(b.g.Machine.Limit(0))
	limit := o.Budget.Limit()
	// An error is ignored: with less memory than this, PlanBuild fails.
	o.Budget.Reserve("choosing tables", choiceBytes)
	p, err := live.PlanBuild(b.out, docs, o)
	if err != nil {
		return memory.Advise(err, "that is for building, whatever --memory the index may take later; --threads 1 takes a "+
			"little less")
	}
	where := ""
	if p.External {
		where = ", and a temporary file for sorted keys"
	}
	b.g.Log.Debug(fmt.Sprintf("building uses at most %s of memory without the input%s; %s are available (%s)",
		humanize.IBytes(o.Budget.Total(p.Bytes+choiceBytes)), where, humanize.IBytes(limit.Bytes), limit.Source))
	return nil
}

// chooseTables returns the plan for the fingerprints of the files, and frees its temporary memory.
func (b *buildRun) chooseTables(ctx context.Context, files []*ndf.File) (*plan.Plan, error) {
	c, err := design.CollectFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	c.Request(&b.choice.Request)
	p, err := b.choice.Choose(ctx)
	if err != nil {
		return nil, err
	}
	p.Request.Sample, c = nil, nil
	debug.FreeOSMemory()
	return p, nil
}
