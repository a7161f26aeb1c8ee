// Package mapreduce holds the command mapreduce: the steps of each job, as programs that Hadoop
// Streaming, Spark or a shell run on lines.
//
//	mapreduce.go   map, reduce and collect, and the flags that they share
//	jobs.go        the jobs: their inputs, results and side files
//	help.go        the help of a job, with complete command lines
package mapreduce

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/mapreduce"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newMapReduce(g.NewFiles())}
}

// mapReduce is one run of a step of a job.
type mapReduce struct {
	g    *cli.Files
	step string // map, reduce or collect
	*taskFlags

	docs    cli.DocumentFlags
	queries string
	k       int
	pairs   mapreduce.Pairs // without K and Threshold
	keep    mapreduce.Keep

	threshold cli.Threshold
	noSketch  bool
	rows      bool
	path      string // file of documents to read instead of standard input

	copies     copies.Options
	file       *cli.MethodFile
	signatures string
}

// taskFlags are the flags of a step for every job.
type taskFlags struct {
	partitions, parts int
	memory            string
	maxBad            int64
}

func (t *taskFlags) register(f *pflag.FlagSet, step string) {
	f.StringVar(&t.memory, "memory", "512MiB", "memory of the task, with the program itself")
	if step != "collect" {
		f.IntVar(&t.partitions, "partitions", 64, fmt.Sprintf("parts of the keys, up to %d, the same for all tasks",
			mapreduce.PartitionsMax))
	}
	if step == "reduce" || step == "collect" {
		f.IntVar(&t.parts, "parts", 0, "tasks of the step before (default: not checked)")
	}
	if step == "map" {
		f.Int64Var(&t.maxBad, "max-bad", 100, "bad records to skip; one more fails the task")
	}
}

func newMapReduce(g *cli.Files) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mapreduce map|reduce|collect JOB",
		Short: "Run a step of a job over lines, for Hadoop, Spark or a shell",
		Long: `Run one step of a job as a filter: lines from standard input, lines to standard
output. Hadoop Streaming and Spark's pipe run such filters on a cluster, and a
shell with sort runs them here. 'ndd help cluster' compares this with other ways, and
has the sizes and a complete script.

Jobs:

` + jobList() + `
'ndd mapreduce map JOB --help' says what a job reads and writes, what its shuffle
must do, and the command lines that run it.

Every task writes end records (~end) last, which show the next step whether records
were lost. Do not remove them. collect checks the results of all tasks and writes
them in the formats of the other commands.

Counters are messages. Under Hadoop Streaming (the environment variable
mapreduce_task_attempt_id is set), they are reporter: lines on standard error.

Exit status: 0 only if all input was read and everything was written; 3 if records
were lost or came twice, or fingerprints of two recipes met; 4 from collect, if
documents are undecided after a round of the job dedup.`,
		Example: `  ndd mapreduce map pairs < part.tsv | LC_ALL=C sort |
    ndd mapreduce reduce pairs | ndd mapreduce collect pairs
  ndd mapreduce map scan --queries Q.bin < chunk.tsv | LC_ALL=C sort |
    ndd mapreduce reduce scan | ndd mapreduce collect scan`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, step := range []string{"map", "reduce", "collect"} {
		cmd.AddCommand(newStep(g, step))
	}
	return cmd
}

func jobList() string {
	var b strings.Builder
	for _, j := range mapReduceJobs {
		fmt.Fprintf(&b, "  %-13s%s\n", j.name, j.short)
	}
	return b.String()
}

// stepShort describes each step.
var stepShort = map[string]string{
	"map":     "Read a part of the input, write records for the shuffle",
	"reduce":  "Read sorted records, write results",
	"collect": "Check that the results of all tasks are complete, and write them",
}

func newStep(g *cli.Files, step string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   step + " JOB",
		Short: stepShort[step],
		Long:  stepShort[step] + ".\n\nJobs:\n\n" + jobList(),
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	task := new(taskFlags)
	task.register(cmd.PersistentFlags(), step)
	for i := range mapReduceJobs {
		if j := &mapReduceJobs[i]; j.has(step) {
			cmd.AddCommand(newJobStep(g, step, task, j))
		}
	}
	return cmd
}

func newJobStep(g *cli.Files, step string, task *taskFlags, j *mapReduceJob) *cobra.Command {
	m := &mapReduce{g: g, step: step, taskFlags: task, keep: mapreduce.FirstID, file: cli.NewMethodFile()}
	cmd := &cobra.Command{
		Use:   j.name,
		Short: j.short,
		Long:  j.help(),
		Annotations: cli.HelpOf("Guide: ndd help cluster",
			"Job: queries=FILE sketch=WORD rows distance=N threshold=X most=N bits=N keep=WORD "+
				"method=NAME method-file=FILE signatures=FILE",
			"Task: partitions=N parts=N max-bad=N memory=SIZE"),
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd, j) },
	}
	if step == "collect" {
		cmd.Use, cmd.Args = j.name+" [FILE...]", nil
	}
	switch step {
	case "map":
		m.registerJob(cmd, j.mapFlags)
		if strings.Contains(j.mapFlags, "documents") {
			cmd.Use, cmd.Args = j.name+" [FILE]", atMostOne
		}
	case "reduce":
		m.registerJob(cmd, j.flags)
	case "collect":
		m.registerJob(cmd, j.collectFlags)
	}
	return cmd
}

// atMostOne returns an error if there are several arguments.
func atMostOne(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("a map reads one file, not %d", len(args))
	}
	return nil
}

func (m *mapReduce) run(cmd *cobra.Command, j *mapReduceJob) error {
	if m.step == "map" {
		m.path = cmd.Flags().Arg(0)
	}
	o, err := m.options(cmd, j)
	if err != nil {
		return err
	}
	if m.step == "collect" {
		if j.collectFlags != "" {
			o.Copies, err = m.copyRows()
		}
		if err != nil {
			return err
		}
		return m.collect(cmd, o)
	}
	job, err := j.make(m)
	if err != nil {
		return err
	}
	switch m.step {
	case "map":
		err = mapreduce.Map(cmd.Context(), job.(mapreduce.Mapper), o)
	case "reduce":
		err = mapreduce.Reduce(cmd.Context(), job.(mapreduce.Reducer), o)
	}
	return err
}

func (m *mapReduce) options(cmd *cobra.Command, j *mapReduceJob) (o mapreduce.Options, err error) {
	budget, err := m.g.Budget(m.memory)
	if err != nil {
		return o, err
	}
	if m.step != "collect" && (m.partitions < 1 || m.partitions > mapreduce.PartitionsMax) {
		return o, cli.Usagef("--partitions %d: must be 1 to %d", m.partitions, mapreduce.PartitionsMax)
	}
	if m.parts < 0 || m.maxBad < 0 {
		return o, cli.Usagef("--parts and --max-bad must not be negative")
	}
	o = mapreduce.Options{In: m.g.Stdin, Out: m.g.Stdout, Partitions: max(1, m.partitions), Parts: m.parts,
		MaxBad: m.maxBad, Columns: j.columns, Rows: j.rows, Threads: 1, Budget: budget}
	if cmd.Flags().Changed("threads") { // the default is one, because a task has one core
		o.Threads = m.g.Threads
	}
	if queries := cmd.Flags().Lookup("queries"); queries != nil && m.queries == "" {
		return o, cli.Usagef("--queries FILE is required: a file in the working folder of the task")
	}
	m.report(&o, m.step+" "+j.name)
	if m.rows {
		o.File, err = wholeFile()
	}
	return o, err
}

// wholeFile returns the name that Hadoop gives for the input file of the task. It returns an error if the input
// does not begin at the start of the file.
func wholeFile() (string, error) {
	file, start := os.Getenv("mapreduce_map_input_file"), os.Getenv("mapreduce_map_input_start")
	if file == "" {
		return "", cli.Usagef("--rows needs the name of the file in the environment variable mapreduce_map_input_file")
	}
	if start != "" && start != "0" {
		return "", cli.Usagef("--rows: the part begins at byte %s of %s, and must be the whole file: "+
			"-D mapreduce.input.fileinputformat.split.minsize=1000000000000", start, file)
	}
	return file, nil
}

// report sets the functions that report progress, for Hadoop or for a terminal.
func (m *mapReduce) report(o *mapreduce.Options, step string) {
	o.Warn = func(message string) { m.g.Log.Warn(message) }
	o.Count = func(name string, n int64) { m.g.Log.Info(fmt.Sprintf("%s: %s %s", step, name, humanize.Comma(n))) }
	if !underHadoop() {
		return
	}
	o.Count = func(name string, n int64) {
		fmt.Fprintf(m.g.Stderr, "reporter:counter:ndd,%s,%d\n", name, n)
	}
	o.Status = func(message string) { fmt.Fprintf(m.g.Stderr, "reporter:status:%s\n", message) }
	if maps, err := strconv.Atoi(os.Getenv("mapreduce_job_maps")); err == nil && m.step == "reduce" && o.Parts == 0 {
		o.Parts = maps
	}
}

// underHadoop reports whether Hadoop Streaming runs this task. Hadoop puts the settings of the job into the
// environment, with underscores instead of dots.
func underHadoop() bool { return os.Getenv("mapreduce_task_attempt_id") != "" }

// collect checks and writes results of standard input or of files.
func (m *mapReduce) collect(cmd *cobra.Command, o mapreduce.Options) error {
	files := cmd.Flags().Args()
	var in []io.Reader
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = append(in, f)
	}
	if len(files) > 0 {
		o.In = io.MultiReader(in...)
	}
	return mapreduce.Collect(cmd.Context(), o)
}

// A mapReduceJob describes a job to the command.
type mapReduceJob struct {
	name, short               string
	in                        string // input of the map: content of a line
	shuffle                   string // content of the shuffle; "" if there is none
	out                       string // results
	side                      string // files that every task needs in addition to its input
	notes                     string
	mapLine                   string         // flags of the map in the examples
	reduceLine                string         // flags of the reduce
	file                      string         // side file in the examples
	mapFlags                  string         // names of the flags of the map
	flags                     string         // names of the flags of the reduce
	collectLine, collectFlags string         // flags of collect in the examples, and names of the flags of collect
	columns                   int            // number of fields of each result that collect writes
	rows                      mapreduce.Rows // rows that collect writes
	make                      func(m *mapReduce) (any, error)
}

func (j *mapReduceJob) has(step string) bool {
	return step != "reduce" || j.shuffle != ""
}
