package design

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/index/plan"
	"ndd/engine/mapreduce"
	"ndd/permute"
)

// planCluster are the flags of ndd plan-cluster.
type planCluster struct {
	n, queries, memory, read, network string
	k, nodes, slots                   int
	hits, jobStart, taskStart         float64
	format                            cli.ReportFormat
}

func newPlanCluster(g *cli.Globals) *cobra.Command {
	var p planCluster
	cmd := &cobra.Command{
		Use:   "plan-cluster",
		Short: "Estimate the steps of 'ndd mapreduce' on a cluster: chunks, waves, bytes, time",
		Long: `Estimate what the jobs scan and pairs of 'ndd mapreduce' take on a cluster: number
of chunks, waves of tasks, memory of a task, bytes read and shuffled, and time; and
what one of its machines takes alone, without a framework.

The defaults are the setting of the paper, whose 200 mappers took about 100 seconds
for 8 billion fingerprints and a million queries. Times are by a model: a task starts,
reads its chunk at --read bytes a second, and compares it at this processor's speed.
--job-start and --task-start are what the framework takes: 20 s and 2 s were measured
with Hadoop 3.4 on one machine with two cores. 'ndd help cluster' says what to type.`,
		Example: `  ndd plan-cluster
  ndd plan-cluster -n 1e12 --nodes 1000 --slots 8 --memory 4GiB --queries 10M`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.run(g) },
	}
	p.format.Register(cmd, "text", "a row for each job")
	f := cmd.Flags()
	f.StringVarP(&p.n, "fingerprints", "n", designDocs, "number of fingerprints, such as 8e9 or 100M")
	f.IntVarP(&p.k, "distance", "k", 3, "largest Hamming distance, 0 to 8")
	f.StringVar(&p.queries, "queries", "1e6", "number of queries of the job scan")
	f.Float64Var(&p.hits, "hits", 1, "hits of a query, on average")
	f.IntVar(&p.nodes, "nodes", 200, "number of machines")
	f.IntVar(&p.slots, "slots", 1, "tasks that run at a time on a machine, one core each")
	f.StringVar(&p.memory, "memory", "1GiB", "memory of a task, without the framework's own")
	f.StringVar(&p.read, "read", "100MB", "bytes that a task reads in a second, from disk or network")
	f.StringVar(&p.network, "network", "100MB", "bytes that a machine sends in a second during a shuffle")
	f.Float64Var(&p.jobStart, "job-start", 20, "seconds that a job takes which does nothing")
	f.Float64Var(&p.taskStart, "task-start", 2, "seconds that a task takes to start")
	return cmd
}

// cluster returns what the flags describe.
func (p *planCluster) cluster() (c mapreduce.Cluster, err error) {
	memory, err := cli.ParseMemory(p.memory)
	if err != nil {
		return c, err
	}
	if p.nodes < 1 || p.slots < 1 || p.nodes > 1e6 || p.slots > 1e4 {
		return c, cli.Usagef("--nodes %d, --slots %d: must be at least 1, and at most 1,000,000 and 10,000", p.nodes, p.slots)
	}
	if p.k < 0 || p.k > permute.MaxK {
		return c, cli.Usagef("-k %d: must be 0 to %d", p.k, permute.MaxK)
	}
	if !(p.hits >= 0) || !(p.jobStart >= 0) || !(p.taskStart >= 0) {
		return c, cli.Usagef("--hits, --job-start and --task-start must not be negative")
	}
	c = mapreduce.Cluster{Nodes: p.nodes, Slots: p.slots, Memory: memory, JobStart: p.jobStart, TaskStart: p.taskStart}
	for _, rate := range []struct {
		flag, text string
		to         *float64
	}{{"read", p.read, &c.ReadBytes}, {"network", p.network, &c.ShuffleRate}} {
		bytes, err := humanize.ParseBytes(rate.text)
		if err != nil || bytes == 0 {
			return c, cli.Usagef("--%s %q: must be a size such as 100MB", rate.flag, rate.text)
		}
		*rate.to = float64(bytes)
	}
	return c, nil
}

func (p *planCluster) run(g *cli.Globals) error {
	if err := p.format.Check(g); err != nil {
		return err
	}
	c, err := p.cluster()
	if err != nil {
		return err
	}
	n, err := cli.ParseCount(p.n)
	if err != nil {
		return cli.Usagef("-n %q: %w", p.n, err)
	}
	queries, err := cli.ParseCount(p.queries)
	if err != nil || queries > 1<<30 {
		return cli.Usagef("--queries %q: must be a number from 1 to 2^30, such as 1e6", p.queries)
	}
	scan, err := mapreduce.EstimateScan(n, p.k, int(queries), p.hits, c)
	if err != nil {
		return err
	}
	pairs, err := mapreduce.EstimatePairs(n, p.k, c)
	if err != nil {
		return err
	}
	switch {
	case p.format.IsJSON():
		return p.format.JSON(g, map[string]any{"fingerprints": n, "k": p.k, "queries": queries, "nodes": p.nodes, "slots": p.slots, "scan": scan, "pairs": pairs})
	case p.format.IsTable():
		return p.format.Table(g, jobColumns, []cli.CellRow{
			{"scan", nil, scan.Chunks, scan.Waves, scan.TaskBytes, scan.Read, scan.Shuffle, scan.Seconds},
			{"pairs", pairs.Design, nil, nil, pairs.TaskBytes, nil, pairs.Shuffle, pairs.Seconds}})
	}
	w := g.Stdout
	fmt.Fprintf(w, "%s, k = %d, on %s of %s, %s each\n", cli.Number(n, "fingerprint"), p.k, cli.Number(c.Nodes, "machine"), cli.Number(c.Slots, "task"), plan.Size(c.Memory))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	writeScanEstimate(t, int(queries), scan)
	writePairsEstimate(t, pairs)
	return t.Flush()
}

var jobColumns = cli.ColumnsOf("job design? chunks:i? waves:i? task_bytes:i read_bytes:i? shuffle_bytes:i seconds:r")

// seconds returns a time as a plan writes it, long ones in hours too.
func seconds(s float64) string {
	text := plan.Duration(s * 1e9)
	if s >= 1800 {
		text += fmt.Sprintf(" (%.1f hours)", s/3600)
	}
	return text
}

// containerBytes is what a task of Hadoop takes beside the filter: its Java side.
const containerBytes = 300 << 20

func writeScanEstimate(w io.Writer, queries int, e mapreduce.ScanEstimate) {
	fmt.Fprintf(w, "\nscan, %s\n", cli.Number(queries, "query"))
	fmt.Fprintf(w, "  chunks of 64 MiB\t%s, in %s of tasks\n", humanize.Comma(int64(e.Chunks)), cli.Number(e.Waves, "wave"))
	if e.Passes > 1 {
		fmt.Fprintf(w, "  jobs\t%d, each with a part of the queries: the tables of all do not fit a task\n", e.Passes)
	}
	fmt.Fprintf(w, "  memory of a map\t%s, for --memory; in a container of %s\n", plan.Size(e.TaskBytes), plan.Size(e.TaskBytes+containerBytes))
	fmt.Fprintf(w, "  read\t%s, and %s of queries copied to the machines\n", plan.Size(e.Read), plan.Size(e.SideFile))
	fmt.Fprintf(w, "  shuffled\t%s\n", plan.Size(e.Shuffle))
	fmt.Fprintf(w, "  time\t%s, of which the maps %s\n", seconds(e.Seconds), seconds(e.Work))
	fmt.Fprintf(w, "  one machine\t%s, by ndd batch --scan\n", seconds(e.Single))
}

func writePairsEstimate(w io.Writer, e mapreduce.PairsEstimate) {
	fmt.Fprintf(w, "\npairs, --design %s --bits %d\n", e.Design, e.Bits)
	fmt.Fprintf(w, "  tables\t%d\n", e.Tables)
	fmt.Fprintf(w, "  memory of a reduce\t%s, for the %s of a group\n", plan.Size(e.TaskBytes), cli.Number(e.Group, "fingerprint"))
	fmt.Fprintf(w, "  shuffled\t%s, compressed %s; entropy %s\n", plan.Size(e.Shuffle), plan.Size(e.Compressed), plan.Size(e.Entropy))
	fmt.Fprintf(w, "  time\t%s\n", seconds(e.Seconds))
}
