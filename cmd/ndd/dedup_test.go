package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// dedupCorpus makes a folder with n JSONL documents in groups of near-duplicates, plain and compressed. It returns
// arguments that request all outputs.
func dedupCorpus(t *testing.T, n int) (args func(out string) []string) {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 5))
	var lines strings.Builder
	var words []string
	for i := range n {
		if i%7 == 0 {
			words = words[:0]
			for range 200 {
				words = append(words, fmt.Sprint("word", rng.IntN(5000)))
			}
		}
		words[rng.IntN(len(words))] = "changed"
		fmt.Fprintf(&lines, "{\"id\":\"doc %d\",\"score\":%d,\"date\":\"20%02d-01-01\",\"text\":%q}\n", i, rng.IntN(9),
			rng.IntN(30), strings.Join(words, " "))
	}
	writeFile(t, filepath.Join(dir, "a.jsonl"), []byte(lines.String()))
	writeFile(t, filepath.Join(dir, "b.jsonl.gz"), gzipped(lines.String()))
	return func(out string) []string {
		return []string{"dedup", "--keep", "newest", "--verify", "jaccard>=0.9", "-o", filepath.Join(out, "result"),
			"--write-kept", filepath.Join(out, "kept"),
			filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl.gz")}
	}
}

// TestDedupFaults checks that the number of threads makes no difference.
func TestDedupFaults(t *testing.T) {
	testFaults(t, long.Or(47, 3), 10, dedupCorpus(t, long.Or(300, 1800)), "--threads", "5")
}

// TestDedupCancelled checks that a run that is cancelled leaves no files, whenever it is cancelled.
func TestDedupCancelled(t *testing.T) {
	args := dedupCorpus(t, 500)
	ended, quarters := 0, long.Or(int64(6), 5)
	for remaining := int64(0); ; remaining = remaining*quarters/4 + 1 {
		ctx := faults.NewCancelContext(t, remaining)
		out := t.TempDir()
		err := runOn(ctx, nil, args(out))
		status := exitStatus(ctx, err)
		if err == nil {
			break // it was not asked so often
		}
		ended++
		if status != exitInterrupted {
			t.Fatalf("cancelled at check %d: status %d, %v", remaining, status, err)
		}
		if files, err := os.ReadDir(out); err != nil || len(files) > 0 {
			t.Fatalf("cancelled at check %d: %v is left, %v", remaining, files, err)
		}
	}
	if ended < 10 {
		t.Errorf("only %d moments", ended)
	}
}

func TestDedupKilled(t *testing.T) {
	docs, moments := long.Or(300, 1200), long.Or(2, 5)
	killTest{moments: moments, args: dedupCorpus(t, docs), clear: []string{"result", "kept"}}.test(t)
}

// TestDedupWorkKilled checks that a run that is killed several times continues with the results in its work folder. The
// folder is never damaged, and the output equals that of an undisturbed run.
func TestDedupWorkKilled(t *testing.T) {
	docs, kills := long.Or(300, 1200), long.Or(5, 50)
	testWorkKilled(t, kills, "took over 2 of 2 files", dedupCorpus(t, docs))
}

// passagesCommands returns the arguments of passages and decontaminate for a corpus, by a folder for outputs.
func passagesCommands(t *testing.T, docs int) map[string]func(out string) []string {
	inputs := dedupCorpus(t, docs)("")[9:]
	data, err := os.ReadFile(inputs[0])
	must.Do(t, err)
	_, text, _ := strings.Cut(string(data), `"text":"`)
	question := strings.Join(strings.Fields(text)[:12], " ")
	items := writeFile(t, filepath.Join(t.TempDir(), "items.jsonl"), []byte(`{"question":"`+question+`"}`))
	all := map[string]func(out string) []string{}
	for name, flags := range map[string][]string{
		"units":         {"passages", "--unit", "line", "--ignore", "digits"},
		"strings":       {"passages", "--bytes", "100"},
		"decontaminate": {"decontaminate", "--evals", items}} {
		all[name] = func(out string) []string {
			return slices.Concat(flags, []string{"-o", filepath.Join(out, "result"),
				"--write-kept", filepath.Join(out, "kept")}, inputs)
		}
	}
	return all
}

// TestPassagesWorkKilled is TestDedupWorkKilled for passages and decontaminate.
func TestPassagesWorkKilled(t *testing.T) {
	for name, args := range passagesCommands(t, long.Or(100, 1200)) {
		t.Run(name, func(t *testing.T) {
			taken := "took over 2 of 2 files"
			if name == "strings" {
				taken = ""
			}
			testWorkKilled(t, long.Or(2, 50), taken, args)
		})
	}
}

// TestPassagesTogether checks that if a copy fails, no table appears. The same command then continues, and its output
// equals that of an undisturbed run.
func TestPassagesTogether(t *testing.T) {
	full := disk.WithFailures(func(_ disk.Call, path string) error {
		if filepath.Base(path) == "b.jsonl.gz" {
			return syscall.ENOSPC
		}
		return nil
	})
	for name, args := range passagesCommands(t, 100) {
		sound, out := t.TempDir(), t.TempDir()
		ran(t, exitDone, args(sound)...)
		command := append(args(out), "--work", filepath.Join(out, "work"))
		if err := runOn(t.Context(), full, command); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%s: %v", name, err)
		}
		ran(t, exitDone, command...)
		remove(t, out, "work")
		if !maps.Equal(contents(t, out), contents(t, sound)) {
			t.Errorf("%s: not what a run that did not fail gives", name)
		}
	}
}

func testWorkKilled(t *testing.T, kills int, taken string, args func(out string) []string) {
	sound, out := t.TempDir(), t.TempDir()
	began := time.Now()
	ran(t, exitDone, args(sound)...)
	took := time.Since(began)
	command := append(args(out), "--work", filepath.Join(out, "work"))
	rng := rand.New(rand.NewPCG(1, 6))
	for range kills {
		killedAfter(t, rng.IntN(int(took.Milliseconds())+1), command...)
		remove(t, out, "result", "kept") // if it finished before the kill
	}
	_, stderr := ran(t, exitDone, command...)
	if strings.Contains(stderr, "corrupt") {
		t.Error(stderr)
	}
	remove(t, out, "result", "kept")
	_, stderr = ran(t, exitDone, command...)
	if !strings.Contains(stderr, taken) || strings.Contains(stderr, "ndd: 0 of ") {
		t.Error(stderr)
	}
	remove(t, out, "work")
	if !maps.Equal(contents(t, out), contents(t, sound)) {
		t.Error("not what a run without kills gives")
	}
}

// TestDedupWorkCopies checks that a run reuses finished copies of a failed run if they are not damaged and the same
// documents are dropped. Of the second file all are dropped, with any --verify. After success no stored copies remain.
func TestDedupWorkCopies(t *testing.T) {
	args := dedupCorpus(t, 200)
	sound, out := t.TempDir(), t.TempDir()
	ran(t, exitDone, args(sound)...)
	command := append(args(out), "--work", filepath.Join(out, "work"))
	full := disk.WithFailures(func(_ disk.Call, path string) error {
		if filepath.Base(path) == "clusters.tsv" {
			return syscall.ENOSPC
		}
		return nil
	})
	copies := func() []string {
		names, err := filepath.Glob(filepath.Join(out, "work", "*.copy"))
		must.Do(t, err)
		return names
	}
	for _, c := range []struct {
		taken   string
		damaged bool
		more    []string
	}{{"the copies of 2 files", false, nil}, {"the copies of 1 file ", true, nil},
		{"the copies of 1 file ", false, []string{"--verify", "jaccard>=0.97"}}} {
		if err := runOn(t.Context(), full, command); !errors.Is(err, syscall.ENOSPC) || len(copies()) != 2 {
			t.Fatalf("%v, and %d copies are kept", err, len(copies()))
		}
		if c.damaged {
			must.Do(t, os.Truncate(copies()[0], 100))
		}
		_, stderr := ran(t, exitDone, append(command, c.more...)...)
		if !strings.Contains(stderr, "took over "+c.taken) {
			t.Errorf("want %q: %s", c.taken, stderr)
		}
		if n := len(copies()); n > 0 {
			t.Errorf("%d copies are still kept", n)
		}
		remove(t, out, "work")
		if same := maps.Equal(contents(t, out), contents(t, sound)); same != (c.more == nil) {
			t.Errorf("%v: the same as without --work: %v", c, same)
		}
		remove(t, out, "result", "kept")
	}
}
