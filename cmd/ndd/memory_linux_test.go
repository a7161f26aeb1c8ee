package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// limited returns a process that runs ndd on two processors, with at most limit KiB of data: with
// more processors it needs more.
func limited(limit string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -d ` + limit + `; exec ndd "$@"`, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	return cmd
}

// TestBuildMemory checks that a build, an addition and a merge announce their memory, and their anonymous pages stay
// below it. With a limit, both are smaller. A build announces at most four times its peak. Samples can miss a peak, so
// the test measures several builds.
func TestBuildMemory(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	n := long.Or(300_000, 4_000_000)
	base, more := writePrints(t, randomPrints(n)), writePrints(t, randomPrints(n/2))
	const (
		building = `building uses at most (\S+ \S+) of memory without the input; \S+ [GM]iB are available \(.+\)$`
		making   = `making a segment of \S+ documents uses at most (\S+ \S+) of memory without mapped files; \S+ [GM]iB ` +
			`are available \(.+\)$`
	)
	for _, limit := range []string{"unlimited", "400000"} {
		var index string
		for try := 1; ; try++ {
			index = filepath.Join(t.TempDir(), "index")
			allowed, maximum := memoryOf(t, building, limit, "build", "-v", "-o", index, base)
			if limit != "unlimited" && allowed > 200<<20 {
				t.Errorf("ulimit -d %s: %s announced", limit, humanize.IBytes(allowed))
			}
			if maximum >= allowed/4 {
				break
			}
			if try == 25 {
				t.Fatalf("ulimit -d %s: %d announced, %d taken by the last of %d builds", limit, allowed, maximum, try)
			}
		}
		memoryOf(t, making, limit, "build", "-v", "--add", index, more)
		memoryOf(t, making, limit, "merge", "-v", index)
	}
}

// TestBuildTight checks that with little memory a build succeeds, or fails before it starts. The error has the required
// and the available memory. Below the tested limits the runtime cannot start its threads.
func TestBuildTight(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	base := writePrints(t, randomPrints(200_000))
	refusal := regexp.MustCompile(`^ndd: building a segment of 200,000 documents needs up to \d+ MiB of memory, ` +
		`and there are [\d.]+ \w+ \(left by the process's limit, ulimit -d\): `)
	refused, built := 0, 0
	for kib := 170_000; kib <= 330_000; kib += 40_000 {
		cmd := limited(strconv.Itoa(kib), "build", "-o", filepath.Join(t.TempDir(), "index"), base)
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
			built++
		case cmd.ProcessState.ExitCode() == exitFailed && refusal.Match(out):
			refused++
		default:
			t.Errorf("ulimit -d %d: %v, %.2000s", kib, err, out)
		}
	}
	if refused == 0 || built == 0 {
		t.Errorf("%d refused, %d built", refused, built)
	}
	// A plan for 8e9 fingerprints is made with the memory there is.
	if out, err := limited("250000", "design", "-n", "8e9").CombinedOutput(); err != nil ||
		!bytes.Contains(out, []byte("halves")) {
		t.Errorf("%v, %.2000s", err, out)
	}
}

// TestAnswerMemory checks that batches and self-joins take at most the memory that they announce, with few results and
// with many.
func TestAnswerMemory(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	base, queries := writePrints(t, randomPrints(20_000)), writePrints(t, randomPrints(5_000))
	index := builtIndex(t, base, "--tables", "2") // enough probes for a sweep
	out := filepath.Join(t.TempDir(), "hits.tsv")
	for _, args := range [][]string{
		{"-i", index, "--unique", "-o", out, queries},
		{"-i", index, "--unique", "-o", out, "--memory", "16MiB", queries},
		{"-i", index, "--unique", "-o", out, base},
		{"--scan", base, "--count", queries},
		{"--scan", base, "--count", "--memory", "300MiB", queries},
	} {
		memoryOf(t, batchMemory, "unlimited", append([]string{"batch", "-v", "--force"}, args...)...)
	}
	for _, more := range [][]string{nil, {"--against", index}} {
		args := append([]string{"dedup", "--verbose", "-o", filepath.Join(t.TempDir(), "out")}, more...)
		memoryOf(t, `comparing \S+ documents took up to (\S+ \S+) of memory`, "unlimited", append(args, base)...)
	}
}

// TestDedupMemory checks that with the minimum memory, the output of dedup equals the output with plenty of memory. It
// takes no more than it announces.
func TestDedupMemory(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	fingerprints := randomPrints(long.Or(100_000, 1_200_000))
	for i := range fingerprints[:len(fingerprints)/2] {
		fingerprints[i] = fingerprints[len(fingerprints)/2+i/3] ^ 1<<(i%64)
	}
	base, needs := writePrints(t, fingerprints), regexp.MustCompile(`needs up to (\d+) MiB of memory`)
	const announced = `comparing \S+ documents took up to (\S+ \S+) of memory`
	for _, args := range [][]string{
		{base, "-k", "3"},
		{base, "-k", "2", "--keep", "source"},
		{nearDocuments(t, long.Or(100_000, 1_000_000)), "--max-document", "1MiB", "--threads", "1"},
	} {
		dedup := func(expression, limit string) map[string]string {
			out := filepath.Join(t.TempDir(), "out")
			memoryOf(t, expression, "unlimited", append([]string{"dedup", "-v", "--memory", limit, "-o", out}, args...)...)
			return contents(t, out)
		}
		want := dedup(announced, "64GiB")
		refusal, _ := limited("unlimited", append([]string{"dedup", "--memory", "1MiB"}, args...)...).CombinedOutput()
		m := needs.FindSubmatch(refusal)
		if m == nil {
			t.Fatalf("%s", refusal)
		}
		minimum, err := strconv.Atoi(string(m[1]))
		must.Do(t, err)
		if got := dedup(announced+".* in temporary files", fmt.Sprint(minimum, "MiB")); len(got) < 4 || !maps.Equal(got, want) {
			t.Errorf("%q with %d MiB: other results", args, minimum)
		}
	}
}

// nearDocuments writes n short documents as JSON lines. Each is near another one.
func nearDocuments(t *testing.T, n int) string {
	rng := rand.New(rand.NewPCG(6, 1))
	var b bytes.Buffer
	for i := range n / 2 {
		var words [20]uint16
		for w := range words {
			words[w] = uint16(rng.Uint32())
		}
		for version := range 2 {
			words[0] += uint16(version)
			fmt.Fprintf(&b, `{"id":"%d.%d","text":"%x"}`+"\n", i, version, words)
		}
	}
	return writeFile(t, filepath.Join(t.TempDir(), "near.jsonl"), b.Bytes())
}

// batchMemory matches the memory that ndd batch and ndd query announce.
const batchMemory = `memory at most (\S+ \S+)(?: without the index(?: and the queries)?)?(?:: .*)?$`

// TestCrowdedAnswerMemory checks that batches with very many hits take no more memory than they announce. The hits are
// a fingerprint of thousands of documents, and a dense ball.
func TestCrowdedAnswerMemory(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	count := func(n int) []uint64 {
		fingerprints := make([]uint64, n)
		for i := range fingerprints {
			fingerprints[i] = uint64(i)
		}
		return fingerprints
	}
	same := writePrints(t, make([]uint64, long.Or(20_000, 60_000)))
	dense := writePrints(t, count(long.Or(15_000, 150_000)))
	asked, few := writePrints(t, make([]uint64, 260)), writePrints(t, count(40))
	indexSame, indexDense := builtIndex(t, same), builtIndex(t, dense, "-k", "8")
	out := filepath.Join(t.TempDir(), "hits")
	for _, args := range [][]string{
		{"batch", "-v", "--force", "-i", indexSame, "--format", "bin", asked},
		{"batch", "-v", "--force", "-i", indexDense, "--format", "bin", "-o", out, few},
		{"batch", "-v", "--force", "-i", indexDense, "--count", few},
		{"batch", "-v", "--force", "--scan", dense, "-k", "8", "--format", "bin", "-o", out, few},
		{"query", "-v", "-i", indexSame, "0000000000000000"},
		{"query", "-v", "-i", indexDense, "0000000000000000"},
	} {
		memoryOf(t, batchMemory, "unlimited", args...)
	}
}

// memoryOf runs ndd with a limit. It returns the announced memory, which expression matches in a line, and the
// maximum of samples taken every 2 ms. It fails the test if ndd takes more than it announces.
func memoryOf(t *testing.T, expression, limit string, args ...string) (announced, maximum uint64) {
	t.Helper()
	cmd := limited(limit, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &log)
			}
			running = false
		case <-time.After(2 * time.Millisecond):
			maximum = max(maximum, memoryNow(cmd, "RssAnon:"))
		}
	}
	m := regexp.MustCompile(`(?m)` + expression).FindStringSubmatch(log.String())
	if m == nil {
		t.Fatalf("%q: no memory is announced: %s", args, &log)
	}
	announced, err := humanize.ParseBytes(m[1])
	must.Do(t, err)
	allowed := announced - memory.Program/2 // without half of the program's allowance, so that small inputs show growth
	if slices.Contains(args, "--scan") {
		allowed = announced + 8<<20 // a scan may need a MiB only and does not count the program
	}
	if maximum > allowed {
		t.Errorf("%q, ulimit -d %s: %s announced, %s taken", args, limit, m[1], humanize.IBytes(maximum))
	}
	return announced, maximum
}

// memoryNow returns a memory figure of a process from the kernel, or 0 if the process has ended.
func memoryNow(cmd *exec.Cmd, figure string) (bytes uint64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	_, after, _ := strings.Cut(string(data), figure)
	fmt.Sscan(after, &bytes)
	return bytes << 10
}
