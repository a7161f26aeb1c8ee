package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// printLines writes raw fingerprints as the job fingerprint does.
func printLines(ts *testscript.TestScript, _ bool, args []string) {
	raw := ts.ReadFile(args[0])
	var b strings.Builder
	for i := 0; i+8 <= len(raw); i += 8 {
		fmt.Fprintf(&b, "%016x\t%d\n", binary.LittleEndian.Uint64([]byte(raw[i:])), i/8)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// sortLines is LC_ALL=C sort -o FILE FILE.
func sortLines(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(sorted(ts.ReadFile(args[0]))), 0o644))
}

func sorted(text string) string { return strings.Join(slices.Sorted(strings.Lines(text)), "") }

// headLines is head -n N FILE > OUT.
func headLines(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := slices.Collect(strings.Lines(ts.ReadFile(args[0])))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(lines[:min(n, len(lines))], "")), 0o644))
}

// runJob runs a job as a shell would: a map for each file, sort, three reduces if it has one.
func runJob(ts *testscript.TestScript, _ bool, args []string) {
	const reduces = 3
	job, flags := args[0], args[1:]
	var files []string
	for len(flags) > 0 {
		last := flags[len(flags)-1]
		if _, err := os.Stat(ts.MkAbs(last)); err != nil || len(flags) > 1 && flags[len(flags)-2] == "--queries" {
			break
		}
		files, flags = append(files, last), flags[:len(flags)-1]
	}
	filter := func(step, input string, flags ...string) string {
		var out, messages bytes.Buffer
		if status := runHere(ts, input, &out, &messages, append([]string{"mapreduce", step, job, "-q"},
			flags...)...); status != exitDone {
			ts.Fatalf("%s %s: status %d: %s", step, job, status, &messages)
		}
		return out.String()
	}
	mapOnly := job == "fingerprint" || job == "signatures"
	var inputs [reduces]strings.Builder
	var results strings.Builder
	for _, file := range files {
		out := filter("map", ts.ReadFile(file), flags...)
		if mapOnly {
			results.WriteString(out)
			continue
		}
		for line := range strings.Lines(out) {
			inputs[(64*int(line[0])+int(line[1]))%reduces].WriteString(line)
		}
	}
	for i := range inputs {
		if mapOnly {
			break
		}
		own := []string{"--parts", strconv.Itoa(len(files))}
		for j, f := range flags {
			if f == "-k" || f == "--round" || f == "--method" {
				own = append(own, flags[j:j+2]...)
			}
		}
		results.WriteString(filter("reduce", sorted(inputs[i].String()), own...))
	}
	ts.Check(os.WriteFile(ts.MkAbs("results"), []byte(results.String()), 0o644))
}
