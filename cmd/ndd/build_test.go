package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/index/live"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
)

// TestBuildKilled kills and interrupts builds at moments spread over the time that one writes, the
// first as soon as it has a folder, until some of either came while one was under way. What stands
// under the index's name is whole and sound, or nothing does; who is interrupted leaves nothing at
// all, and who is killed a hidden folder, which the next build does not mind and which a query for
// the index names.
func TestBuildKilled(t *testing.T) {
	moments, n := long.Or(2, 5), long.Or(50_000, 200_000)
	base := writePrints(t, sets.All(n, 0, 3, 5)[0].Base)
	build := func(dir string) *exec.Cmd {
		cmd := exec.Command("ndd", "build", "-o", "index", "--tables", "10", base)
		cmd.Dir = dir
		return cmd
	}
	// start begins a build, which has a folder when it returns, or has ended.
	start := func(dir string) (cmd *exec.Cmd, said *strings.Builder, ended chan struct{}) {
		cmd, said, ended = build(dir), new(strings.Builder), make(chan struct{})
		cmd.Stderr = said
		must.Do(t, cmd.Start())
		go func() {
			cmd.Wait() // the test reads cmd.ProcessState
			close(ended)
		}()
		for {
			if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
				return cmd, said, ended
			}
			select {
			case <-ended:
				return cmd, said, ended
			case <-time.After(100 * time.Microsecond):
			}
		}
	}
	cmd, said, ended := start(t.TempDir())
	began := time.Now()
	if <-ended; !cmd.ProcessState.Success() {
		t.Fatalf("%v: %s", cmd.ProcessState, said)
	}
	took := time.Since(began)
	unfinished, interrupted := 0, 0
	for i := 0; i < 2*moments || unfinished == 0 || interrupted == 0; i++ {
		if i == signalsMax {
			t.Fatalf("of %d builds %d were killed and %d interrupted while they were under way", i, unfinished, interrupted)
		}
		dir := t.TempDir()
		index := filepath.Join(dir, "index")
		signal := []os.Signal{os.Kill, os.Interrupt}[i%2]
		cmd, said, ended := start(dir)
		began := time.Now()
		time.Sleep(took * time.Duration(i/2%moments) / time.Duration(moments))
		cmd.Process.Signal(signal) // it may have ended
		<-ended
		status := cmd.ProcessState.ExitCode()
		left := left(t, dir)
		if x, err := engine.Open(context.Background(), index, engine.OpenOptions{}); err == nil {
			if err := x.Check(t.Context()); err != nil || len(left) != 1 {
				t.Errorf("%v at moment %d: %v, %v", signal, i/2, err, left)
			}
			x.Close()
			took = min(took, time.Since(began)) // the machine has become faster
			continue
		}
		if status == exitInterrupted {
			interrupted++
		}
		switch {
		case status == exitInterrupted && (len(left) > 0 || !strings.HasSuffix(said.String(), "ndd: interrupted\n")):
			t.Errorf("interrupted at moment %d: %v is left; %s", i/2, left, said)
		case status != exitInterrupted && status != -1, len(left) > 1, len(left) == 1 &&
			!strings.HasPrefix(left[0], ".index.tmp-"):
			t.Errorf("%v at moment %d: status %d, %v is left; %s", signal, i/2, status, left, said)
		case len(left) == 1:
			unfinished++
			_, err := live.ManifestPath(index)
			if err == nil || !strings.Contains(err.Error(), left[0]+" is beside it") {
				t.Errorf("killed at moment %d: %v", i/2, err)
			}
		}
		if i%4 > 1 || i >= 2*moments {
			continue
		}
		if out, err := build(dir).CombinedOutput(); err != nil {
			t.Errorf("the build after it: %v: %s", err, out)
		}
		ran(t, exitDone, "check", index)
	}
}
