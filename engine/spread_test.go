package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/numa"
	"example.org/ndd/permute"
)

// twoNodes makes a host of two nodes, each with a processor of this machine and the given free memory in MiB. On most
// machines, binding memory to the second node fails.
func twoNodes(mib int) fs.FS { return drawn(drawnNode{"0", mib}, drawnNode{"0", mib}) }

// A drawnNode describes a node: its processors, and its free memory in MiB.
type drawnNode struct {
	cpus string
	mib  int
}

// drawn returns the files of a host with these nodes.
func drawn(nodes ...drawnNode) fs.FS {
	root := fstest.MapFS{"sys/devices/system/node/online": {Data: fmt.Appendf(nil, "0-%d\n", len(nodes)-1)}}
	for i, n := range nodes {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", i)
		root[dir+"cpulist"] = &fstest.MapFile{Data: []byte(n.cpus + "\n")}
		root[dir+"meminfo"] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"Node %d MemTotal: 9999999 kB\nNode %d MemFree: %d kB\n", i, i, 1024*(n.mib+9999999/1024/64+1))}
	}
	return root
}

// spreads are the ways to spread an index on a host.
func spreads(h *numa.Host) map[string]*worker.Options {
	return map[string]*worker.Options{
		"not":     nil,
		"workers": {Host: h},
		"direct":  {Host: h, Direct: true},
	}
}

// built returns the folder of an index of fingerprints.
func built(t testing.TB, fingerprints []uint64, o segment.Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, live.Build(t.Context(), dir, []*ndf.File{openFile(t, writeRaw(t, fingerprints))}, live.BuildOptions{Options: o}))
	return dir
}

// asked queries an index in every way: batches, single queries, and many concurrent queries.
func asked(t testing.TB, x *Index, queries []uint64, k int, want []oracle.Hit) {
	t.Helper()
	from := func(q int) int { // start of the answer to a query in want
		i, _ := slices.BinarySearchFunc(want, q, func(h oracle.Hit, q int) int { return h.Query - q })
		return i
	}
	// Sweep if there are enough queries, and search.
	for threads, n := range map[int]int{1: len(queries), 3: len(queries) / 2} {
		if got, want := flat(t, x, queries[:n], k, threads), want[:from(n)]; !slices.Equal(got, want) {
			t.Fatalf("%d queries, %d threads: %d hits, want %d", n, threads, len(got), len(want))
		}
	}
	var all sync.WaitGroup
	for first := range 4 {
		all.Go(func() {
			for q := first; q < len(queries); q += 4 * (1 + len(queries)/1000) {
				hits, err := x.Query(t.Context(), simhash.Fingerprint(queries[q]), QueryOptions{K: k, Docs: AllDocs})
				if err != nil {
					t.Error(err)
					return
				}
				if got, want := appendHits(nil, q, hits), want[from(q):from(q+1)]; !slices.Equal(got, want) {
					t.Errorf("query %d: %d hits, want %d", q, len(got), len(want))
				}
			}
		})
	}
	all.Wait()
}

// TestSpreadFaults makes every system call of the placement fail with every error. The index opens anyway and has the
// same answers.
func TestSpreadFaults(t *testing.T) {
	design := halves(t)
	set := sets.All(3_000, 200, 3, 9)[0]
	dir := built(t, set.Base, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	want := oracle.Search(set.Base, set.Queries, 3)
	for _, call := range numa.Injectable() {
		for _, fault := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS, syscall.EINVAL, syscall.ENOMEM} {
			h := numa.New(numa.Options{Root: twoNodes(1 << 20), Inject: func(c string) error {
				if c == call {
					return fault
				}
				return nil
			}})
			x := openAt(t, dir, live.OpenOptions{Spread: &worker.Options{Host: h}})
			asked(t, x, set.Queries, 3, want)
			if r, _ := x.live.Spread(); call == "mmap" && (len(r.Notes) == 0 || r.Nodes[0].Placement.Bytes != 0) {
				t.Errorf("%s: %v: %v, %q", call, fault, r, r.Notes)
			}
			x.Close()
		}
	}
}

// TestSpreadEvenly checks that each of two nodes has half of the tables, and searches them for all queries of a batch.
func TestSpreadEvenly(t *testing.T) {
	design, err := permute.ByName("paper-4", 3, 4)
	must.Do(t, err)
	set := sets.All(4_000, 1_000, 3, 8)[0]
	dir := built(t, set.Base, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	x := openAt(t, dir, live.OpenOptions{Spread: &worker.Options{Host: numa.New(numa.Options{Root: twoNodes(1 << 20)})}})
	flat(t, x, set.Queries, 3, 1)
	for _, q := range set.Queries[:10] { // the caller searches by itself
		_, err := x.Query(t.Context(), simhash.Fingerprint(q), QueryOptions{K: 3, Docs: 0})
		must.Do(t, err)
	}
	r, _ := x.live.Spread()
	for _, n := range r.Nodes {
		if n.Queries != 1000 || n.Tables != 2 {
			t.Errorf("%+v", n)
		}
	}
}

// TestSpreadTruncated truncates an index file while its tables are copied. The result is an error, not a crash, and
// nothing leaks.
func TestSpreadTruncated(t *testing.T) {
	design := halves(t)
	fingerprints := sets.Uniform(300_000, 3)
	dir := built(t, fingerprints, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	path := filepath.Join(dir, "00000001.segment")
	h := numa.New(numa.Options{Inject: func(call string) error {
		if call == "mmap" {
			if err := os.Truncate(path, 1<<20); err != nil {
				t.Error(err)
			}
		}
		return nil
	}})
	x, err := openAs(t.Context(), dir, live.OpenOptions{Spread: &worker.Options{Host: h}})
	if err == nil {
		x.Close()
	}
	if runtime.GOOS == "linux" && err == nil {
		t.Error("opened a file that was cut")
	}
}

// TestLabSpread runs in the lab (numa/lab/run). It builds an index. Every page of every table is on its node, every
// worker is pinned to a processor of its node, and the answers equal brute force. The same holds for segments of
// inserted documents, and for the segment that all are merged into.
func TestLabSpread(t *testing.T) {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil || !strings.Contains(string(line), "ndd.lab=") {
		t.Skip("needs a machine of the lab: numa/lab/run boots one, and .ci/run runs this there")
	}
	design, err := permute.ByName("paper-4", 3, 4)
	must.Do(t, err)
	set := sets.All(20_000, 4_200, 3, 8)[0]
	dir := built(t, set.Base, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	plain := openAt(t, dir, live.OpenOptions{})
	few := set.Queries[:200]
	want := oracle.Search(set.Base, few, 3)
	x := openAt(t, dir, live.OpenOptions{Spread: &worker.Options{Host: numa.New(numa.Options{})}})
	asked(t, x, few, 3, want)
	// a sweep
	if got, want := flat(t, x, set.Queries, 3, 2), flat(t, plain, set.Queries, 3, 2); !slices.Equal(got, want) {
		t.Errorf("%d hits of a sweep, want %d", len(got), len(want))
	}
	onNodes(t, x)
	x.Close()
	extra := sets.Uniform(3000, 9)
	grown := built(t, set.Base, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	x = openAt(t, grown, live.OpenOptions{Write: true, NoSync: true, Spread: &worker.Options{Host: numa.New(numa.Options{})}})
	_, err = x.Insert(t.Context(), documents(extra)...)
	must.Do(t, err)
	must.Do(t, x.live.Flush(t.Context()))
	want = oracle.Search(slices.Concat(set.Base, extra), few, 3)
	asked(t, x, few, 3, want)
	onNodes(t, x)
	must.Do(t, x.live.Merge(t.Context(), 1))
	asked(t, x, few, 3, want)
	onNodes(t, x)
}

// onNodes checks that all pages of all tables of an index are on their nodes, and that the tables are searched there.
// If there is one segment, each table has at least one worker.
func onNodes(t *testing.T, x *Index) {
	t.Helper()
	parts, tables := segmentsOf(x), 0
	for _, p := range parts {
		tables += len(p.Segment.Tables())
	}
	for x.live.HeldVersions() > 0 {
		runtime.Gosched()
	}
	r, ok := x.live.Spread()
	there := 0
	for _, n := range r.Nodes {
		if n.Tables > 0 && !n.Borrowed && (n.Placement.Local != n.Placement.Pages || n.Placement.Pages == 0 || n.Workers == 0 ||
			len(parts) == 1 && n.Workers < uint64(n.Tables) ||
			n.Pinned != n.Workers || n.Queries == 0) {
			t.Errorf("%+v", n)
		}
		there += n.Tables
	}
	if !ok || len(r.Notes) > 0 || there != tables {
		t.Errorf("%d tables, want %d; %q", there, tables, r.Notes)
	}
	t.Log(r)
}

// TestSpreadWithoutMemory checks that a table stays in its file, and is searched there, if a node or the budget has no
// memory for a copy.
func TestSpreadWithoutMemory(t *testing.T) {
	fingerprints := sets.Uniform(300_000, 3) // 1.5 MB a table
	dir := built(t, fingerprints, segment.Options{Design: halves(t), Table: table.Options{Layout: table.LayoutPlanar}})
	want := oracle.Search(fingerprints, fingerprints[:20], 3)
	const all = 64 << 20
	for _, c := range []struct {
		mib    int // memory of a node
		budget uint64
		copied int
	}{{100, all, 2}, {3, all, 2}, {0, all, 0}, {100, 3 << 20, 1}, {100, 1 << 20, 0}} {
		budget := memory.NewBudget(memory.Set(c.budget))
		x := openAt(t, dir, live.OpenOptions{Budget: budget,
			Spread: &worker.Options{Host: numa.New(numa.Options{Root: twoNodes(c.mib)})}})
		if taken := c.budget - budget.Free(); c.mib > 0 && (taken > 0) != (c.copied > 0) {
			t.Errorf("%+v: %d bytes are taken for copies", c, taken)
		}
		r, _ := x.live.Spread()
		copied, stay := 0, strings.Count(strings.Join(r.Notes, " "), "stays in the file")
		for _, n := range r.Nodes {
			if n.Placement.Bytes > 0 {
				copied++
			}
		}
		if copied != c.copied || stay != 2-copied {
			t.Errorf("%+v: %d of 2 nodes have copies: %q", c, copied, r.Notes)
		}
		asked(t, x, fingerprints[:20], 3, want)
		if err := x.Close(); err != nil || budget.Free() != c.budget {
			t.Errorf("%v, %d of %d bytes are left", err, budget.Free(), c.budget)
		}
	}
}
