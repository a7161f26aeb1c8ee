package index

import (
	"runtime"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/index/worker"
	"ndd/numa"
)

// SpreadFlags say whether and how the tables of an index are spread over the
// memory nodes of this machine.
type SpreadFlags struct {
	when      string
	replicate bool
	hugeTLB   bool
	workers   int
}

// Register adds the flags.
func (s *SpreadFlags) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.when, "numa", "auto", "copy tables to NUMA memory nodes and search each with threads on that node: auto (if there are several nodes), on or off")
	f.BoolVar(&s.replicate, "replicate", false, "place a copy of the tables on every memory node, as far as memory allows")
	f.IntVar(&s.workers, "workers", 0, "worker threads per memory node; -1: no workers, the requesting thread searches (default: one per table, at most one per processor; none with fewer than 8 processors)")
	f.BoolVar(&s.hugeTLB, "hugetlb", false, "allocate tables from the memory nodes' huge page pools, as far as these last")
}

// processorsMin are needed for workers to be worth it: with two, a query by a
// worker takes twice the time (BenchmarkWorker), since who polls takes the place
// of who works.
const processorsMin = 8

// workersMax on a memory node, each a thread of its own, are more than a node has processors.
const workersMax = 1024

// Options are nil where the tables are to stay in their file.
func (s *SpreadFlags) Options(g *cli.Globals) (*worker.Options, error) {
	if s.workers < -1 || s.workers > workersMax {
		return nil, cli.Usagef("--workers %d: must be -1 (none), 0 (default), or a number up to %d", s.workers, workersMax)
	}
	switch s.when {
	case "auto", "on":
	case "off", "": // not a flag of this command
		return nil, nil
	default:
		return nil, cli.Usagef("--numa %q: must be auto, on or off", s.when)
	}
	h := numa.New(numa.Options{Log: g.Log})
	if s.when == "auto" && len(h.Nodes()) == 1 {
		for _, name := range []string{"replicate", "workers", "hugetlb"} {
			if g.Given[name] {
				g.Log.Warn("--" + name + " has no effect, because this machine has one memory node; --numa on applies it anyway")
			}
		}
		return nil, nil
	}
	g.Log.Debug("memory nodes: " + h.String())
	direct := s.workers < 0 || s.workers == 0 && runtime.GOMAXPROCS(0) < processorsMin
	o := &worker.Options{Host: h, Replicate: s.replicate, Workers: max(s.workers, 0), Direct: direct}
	if s.hugeTLB {
		o.Pages = numa.HugeTLB
	}
	return o, nil
}

// LogSpread says where an index's tables are.
func LogSpread(g *cli.Globals, x *engine.Index) {
	if r, ok := x.Live().Spread(); ok {
		g.Log.Info("memory nodes: " + r.String())
	}
}
