package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ndd/cmd/ndd/cli"
	"ndd/engine/storage/store"
)

// underRace says whether the race detector is on.
func underRace() bool {
	build, _ := debug.ReadBuildInfo()
	return slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// somePrintsFile is a file of n fingerprints, a tenth of which are there often.
func somePrintsFile(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	prints := make([]uint64, n)
	for i := range prints {
		if prints[i] = rng.Uint64(); i%10 == 0 {
			prints[i] >>= 52
		}
	}
	path := filepath.Join(t.TempDir(), "base.bin")
	if err := os.WriteFile(path, store.Bytes64(prints), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// nddCommand is a process that runs ndd.
func nddCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"ndd"}, args...)}
}

// A build says before it begins what memory it takes, and takes no more: its anonymous pages,
// which are all that it has beside the mapped input, stay below that.
// Where the process may have little, it takes less, and says less. What it says is not
// far more than it takes; who looks now and then may miss that, and looks at another build then.
func TestBuildMemory(t *testing.T) {
	if underRace() {
		return // whose shadow counts
	}
	n := 4_000_000
	if testing.Short() {
		n = 1_000_000
	}
	base := somePrintsFile(t, n)
	for _, limit := range []string{"unlimited", "400000"} {
		const tries = 25
		for try := 1; ; try++ {
			allowed, most := memoryOf(t, `building uses at most (\S+ \S+) of memory beside the input; \S+ [GM]iB are available \(.+\)$`,
				limit, "build", "-v", "-o", filepath.Join(t.TempDir(), "index"), base)
			if limit != "unlimited" && allowed > 200<<20 {
				t.Errorf("ulimit -d %s: %s said", limit, humanize.IBytes(allowed))
			}
			if most >= allowed/4 {
				break
			}
			if try == tries {
				t.Fatalf("ulimit -d %s: %s said, %s taken, of %d builds the last", limit, humanize.IBytes(allowed), humanize.IBytes(most), tries)
			}
		}
	}
}

// TestMergeMemory: so do adding to an index, and a merge of it.
func TestMergeMemory(t *testing.T) {
	if underRace() {
		return // whose shadow counts
	}
	base, more := somePrintsFile(t, 2_000_000), somePrintsFile(t, 500_000) // with fewer it is not seen beside what the program takes
	for _, limit := range []string{"unlimited", "400000"} {
		index := builtIndex(t, base)
		for _, args := range [][]string{{"build", "-v", "--add", index, more}, {"merge", "-v", index}} {
			memoryOf(t, `making a segment of \S+ documents uses at most (\S+ \S+) of memory beside mapped files; \S+ [GM]iB are available \(.+\)$`, limit, args...)
		}
	}
}

// TestBuildTight: where the process may map little, a build ends well, or is refused before it
// begins with what it needs and what there is: nothing between.
func TestBuildTight(t *testing.T) {
	if underRace() {
		return // which reserves more than any of the limits
	}
	base := somePrintsFile(t, 200_000)
	refused, built := 0, 0 // with less not even the threads that the runtime begins with can be
	for kib := 170_000; kib <= 330_000; kib += 20_000 {
		cmd := exec.Command("sh", "-c", `ulimit -d `+strconv.Itoa(kib)+`; exec "$0" build -o "$1" "$2"`, ndd(t), filepath.Join(t.TempDir(), "index"), base)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
			built++
		case cmd.ProcessState.ExitCode() == exitFailed && regexp.MustCompile(`^ndd: building a segment of 200,000 documents needs up to \d+ MiB of memory, and there are [\d.]+ \w+ \(left by the process's limit, ulimit -d\): `).Match(out):
			refused++
		default:
			t.Errorf("ulimit -d %d: %v, %.2000s", kib, err, out)
		}
	}
	if refused == 0 || built == 0 {
		t.Errorf("%d refused, %d built", refused, built)
	}
}

// TestDesignTight: to plan for 8e9 fingerprints takes no more than there is, though that measures less of
// the machine.
func TestDesignTight(t *testing.T) {
	if underRace() {
		return
	}
	cmd := exec.Command("sh", "-c", `ulimit -d 250000; exec "$0" design -n 8e9`, ndd(t))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("halves")) {
		t.Errorf("%v, %.2000s", err, out)
	}
}

// So do batches and comparisons, of queries that find little and of queries that find much.
func TestAnswerMemory(t *testing.T) {
	if underRace() {
		return
	}
	base, queries := somePrintsFile(t, 40_000), somePrintsFile(t, 10_000)
	index := builtIndex(t, base, "--tables", "2") // with probes enough to be swept
	out := filepath.Join(t.TempDir(), "hits.tsv")
	const batch = `memory at most (\S+ \S+)(?: beside the index and the queries)?: `
	for _, args := range [][]string{
		{"batch", "-v", "--force", "-i", index, "--unique", "-o", out, queries},
		{"batch", "-v", "--force", "-i", index, "--unique", "-o", out, "--memory", "16MiB", queries},
		{"batch", "-v", "--force", "-i", index, "--unique", "-o", out, base},
		{"batch", "-v", "--scan", base, "--count", queries},
		{"batch", "-v", "--scan", base, "--count", "--memory", "300MiB", queries},
		{"batch", "-v", "--scan", index, "--count", queries},
	} {
		memoryOf(t, batch, "unlimited", args...)
	}
	for _, more := range [][]string{nil, {"--star"}, {"--against", index}} {
		args := append([]string{"dedup", "--verbose", "-o", filepath.Join(t.TempDir(), "out")}, more...)
		memoryOf(t, `comparing \S+ documents takes up to (\S+ \S+) of memory`, "unlimited", append(args, base)...)
	}
}

// TestCrowdedAnswerMemory: nor does it matter how much a query finds: a fingerprint of thousands of documents, and a dense ball.
func TestCrowdedAnswerMemory(t *testing.T) {
	if underRace() {
		return
	}
	dir := t.TempDir()
	write := func(name string, n int, at func(i int) uint64) string {
		prints := make([]uint64, n)
		for i := range prints {
			prints[i] = at(i)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, store.Bytes64(prints), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	same := write("same", 60_000, func(int) uint64 { return 0 })
	dense := write("dense", 150_000, func(i int) uint64 { return uint64(i) })
	asked, few := write("asked", 260, func(int) uint64 { return 0 }), write("few", 40, func(i int) uint64 { return uint64(i) })
	indexSame, indexDense := builtIndex(t, same), builtIndex(t, dense, "-k", "8")
	out := filepath.Join(dir, "hits")
	const said = `memory at most (\S+ \S+)(?: beside the index(?: and the queries)?)?(?:: .*)?$`
	for _, args := range [][]string{
		{"batch", "-v", "--force", "-i", indexSame, "--format", "bin", asked},
		{"batch", "-v", "--force", "-i", indexDense, "--format", "bin", "-o", out, few},
		{"batch", "-v", "--force", "-i", indexDense, "--count", few},
		{"batch", "-v", "--force", "--scan", dense, "-k", "8", "--format", "bin", "-o", out, few},
		{"batch", "-v", "--force", "--scan", indexSame, "--format", "bin", "-o", out, few},
		{"query", "-v", "-i", indexSame, "0000000000000000"},
		{"query", "-v", "-i", indexDense, "0000000000000000"},
	} {
		memoryOf(t, said, "unlimited", args...)
	}
}

// memoryOf runs ndd on two processors, allowed so many KiB of data, and gives the memory that it says, as expression
// finds it in a line of its own, and the most that it takes, which is looked at again and again. To take
// more than it says is an error.
func memoryOf(t *testing.T, expression, limit string, args ...string) (said, most uint64) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -d ` + limit + `; exec "$0" "$@"`, ndd(t)}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // with more it takes more, or says that it has too little
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	looks := 0
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for running := true; running; looks++ {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &log)
			}
			running = false
		case <-time.After(2 * time.Millisecond):
			data, _ := os.ReadFile(status)
			if m := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(data); m != nil {
				kib, _ := strconv.ParseUint(string(m[1]), 10, 64)
				most = max(most, kib<<10)
			}
		}
	}
	m := regexp.MustCompile(`(?m)` + expression).FindStringSubmatch(log.String())
	if m == nil {
		t.Fatalf("%q: no memory is said: %s", args, &log)
	}
	said, err := humanize.ParseBytes(m[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q, ulimit -d %s: %s said, %s taken (looked at %d times)", args, limit, m[1], humanize.IBytes(most), looks)
	program := uint64(0)
	if slices.Contains(args, "--scan") {
		program = 8 << 20 // which a scan, that may do with a MiB, does not count
	}
	if most > said+program {
		t.Errorf("%q, ulimit -d %s: %s said, %s taken", args, limit, m[1], humanize.IBytes(most))
	}
	return said, most
}

// ndd is a file that runs ndd.
func ndd(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ndd")
	if err := os.Symlink(nddCommand(t).Path, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// terminal is a new pseudo-terminal: what is written to tty is read from the other end.
func terminal(t *testing.T) (other, tty *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if err := unix.IoctlSetPointerInt(int(other.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(other.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return other, tty
}

// A build shows its progress where standard error is a terminal, unless it is told not to, and
// nowhere else. What is drawn ten times a second is seen of builds that take some tenths of one: of so
// many fingerprints as that takes on this machine.
func TestBuildProgress(t *testing.T) {
	var base string
	for n := 100_000; ; n *= 3 {
		base = somePrintsFile(t, n)
		shown := onTerminal(t, base)
		if len(regexp.MustCompile(`building .*[1-6] / 7`).FindAllString(shown, -1)) > 1 {
			break
		}
		if n > 10_000_000 {
			t.Fatalf("%d fingerprints: %q", n, shown)
		}
	}
	for _, flag := range []string{"--no-progress", "--quiet"} {
		if shown := onTerminal(t, base, flag); strings.Contains(shown, "building [") || strings.Contains(shown, "/ 7") {
			t.Errorf("%s: %q", flag, shown)
		}
	}
	cmd := nddCommand(t, buildOf(t, base)...)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("/ 7")) || bytes.ContainsAny(out, "\x1b\r") {
		t.Errorf("without a terminal: %v, %q", err, out)
	}
}

// buildOf are the arguments of a slow build, of 7 parts.
func buildOf(t *testing.T, base string) []string {
	return []string{"build", "-o", filepath.Join(t.TempDir(), "index"), "--design", "cover-6-4-3", "--layout", "huffman", "--threads", "1", base}
}

// A message that comes while a bar is drawn stands above it, whole, and nothing of the bar is left.
func TestMessageAboveBar(t *testing.T) {
	other, tty := terminal(t)
	g := &cli.Globals{Stderr: tty, LogFormat: "text"}
	if err := g.Begin(new(cobra.Command)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var text []byte
	shown := func() string {
		mu.Lock()
		defer mu.Unlock()
		return string(text)
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for b := make([]byte, 4096); ; {
			n, err := other.Read(b)
			if err != nil { // EIO, as the last one closes it
				return
			}
			mu.Lock()
			text = append(text, b[:n]...)
			mu.Unlock()
		}
	})
	for i := range 3 {
		b := g.NewBar("reading", int64(100+i), cli.CountUnit)
		b.Set(50)
		for !strings.Contains(shown(), fmt.Sprintf("50 / %d", 100+i)) { // until it has been drawn
			time.Sleep(time.Millisecond)
		}
		g.Log.Info(fmt.Sprintf("message %d, which must stay", i))
		b.Set(60)
		b.End()
	}
	g.Log.Info("the end")
	tty.Close()
	reader.Wait()
	want := "ndd: message 0, which must stay\nndd: message 1, which must stay\nndd: message 2, which must stay\nndd: the end\n"
	if got := onScreen(shown()); got != want {
		t.Errorf("%q shows\n%s", shown(), got)
	}
}

// onScreen is what stands on a terminal in the end: of the codes, those that go up a line and those that clear
// what is below matter.
func onScreen(shown string) string {
	lines := []string{""}
	for part := range strings.SplitAfterSeq(shown, "\n") {
		for strings.HasPrefix(part, "\x1b[") {
			end := strings.IndexAny(part, "ABCDEFGHJKSTfmhl")
			if n, err := strconv.Atoi(part[2:end]); err == nil && part[end] == 'A' {
				lines = append(lines[:max(0, len(lines)-1-n)], "")
			}
			part = part[end+1:]
		}
		text := strings.TrimRight(part, "\r\n")
		lines[len(lines)-1] += text
		if strings.HasSuffix(part, "\n") {
			lines = append(lines, "")
		}
	}
	return strings.Join(lines, "\n")
}

// onTerminal is what a build shows on one.
func onTerminal(t *testing.T, base string, flags ...string) string {
	t.Helper()
	other, tty := terminal(t)
	cmd := nddCommand(t, append(buildOf(t, base), flags...)...)
	cmd.Stderr = tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	var shown strings.Builder
	if _, err := io.Copy(&shown, other); err != nil && !errors.Is(err, syscall.EIO) { // as the last one closes it
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &shown)
	}
	return shown.String()
}
