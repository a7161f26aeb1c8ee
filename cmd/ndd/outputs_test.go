package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

const outputDocs = `{"id":"a","text":"The fence around the orchard is old and a goat of the neighbours has been through the hole."}
{"id":"b","text":"The boats at the quay have been painted and the sails are with the maker until the spring."}
`

// TestOutputsKeepInputs checks that no output may be an input, be in an input or contain one, under any name, with and
// without --force. Refused commands change nothing.
func TestOutputsKeepInputs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here := dir
	for _, name := range []string{"d/a.jsonl", "d/e/b.jsonl", "f/a.jsonl", "o.jsonl", "ev.jsonl", "mine/index.html",
		"mine/clusters.tsv", "mine/manifest"} {
		writeFile(t, name, []byte(outputDocs))
	}
	writeFile(t, "gone.tsv", []byte("file\trow\nd/a.jsonl\t1\n"))
	must.Do(t, os.Symlink("d", "linked"))
	must.Do(t, os.Symlink(filepath.Join("..", "o.jsonl"), filepath.Join("f", "link.jsonl")))
	must.Do(t, os.Symlink("o.jsonl", "link.jsonl"))
	must.Do(t, os.Link(filepath.Join("d", "a.jsonl"), "hard.jsonl"))
	nddOut(t, exitDone, "fingerprint", "-o", "p.ndf", "d")
	nddOut(t, exitDone, "build", "-o", "i", "p.ndf")
	must.Do(t, os.Link("p.ndf", "hard.ndf"))
	must.Do(t, os.Symlink("p.ndf", "link.ndf"))
	writeFile(t, "q.bin", []byte("\x01\x02\x03\x04\x05\x06\x07\x08"))

	for _, command := range []string{
		// An output is an input.
		"dedup -o d d", "dedup -o linked d", "dedup -o ./d/ d", "dedup --write-kept d d", "dedup --write-kept HERE/d d",
		"dedup --annotate d linked", "dedup --report f/../d d", "dedup -o f f/../f", "passages --words 3 -o o.jsonl o.jsonl",
		"passages --words 3 -o ./o.jsonl HERE/o.jsonl", "passages --words 3 -o o.jsonl link.jsonl",
		"passages --words 3 -o link.jsonl o.jsonl", "passages --words 3 -o hard.jsonl d/a.jsonl",
		"passages --words 3 -o hard.jsonl d", "passages --words 3 -o o.jsonl f", "passages --words 3 -o o.jsonl *.jsonl",
		"passages --words 3 -o d/a.jsonl d/?.jsonl", "passages --words 3 --write-kept d d",
		"passages --words 3 --annotate d d", "decontaminate --evals ev.jsonl --question text -o ev.jsonl o.jsonl",
		"decontaminate --evals ev.jsonl --question text --sets o.jsonl o.jsonl",
		"decontaminate --evals ev.jsonl --question text --write-kept d d",
		"fingerprint -o hard.ndf p.ndf", "fingerprint --skipped o.jsonl -o x.ndf o.jsonl", "copies -o o.jsonl o.jsonl",
		"batch -i i -o q.bin q.bin", "batch --scan p.ndf -o p.ndf q.bin", "batch --scan p.ndf -o link.ndf q.bin", "export -o p.ndf p.ndf",
		"filter --dropped gone.tsv --write-kept d d", "build -o i i",
		"info --plot i i",
		// The output is in an input.
		"dedup -o d/out d", "dedup -o d/e/out linked", "dedup --write-kept linked/out d", "dedup --write-kept d/new/deep d",
		"dedup --annotate HERE/d/out d", "dedup --report d/page d", "dedup --work d/work d", "dedup --work d/.work d",
		"dedup --write-kept out --work out/../d/work d", "passages --words 3 --work d/work d", "passages --words 3 -o d/hits.tsv d",
		"decontaminate --evals ev.jsonl --question text --work linked/work d", "fingerprint -o d/p.ndf d",
		"fingerprint -o new.ndf --skipped d/skipped.tsv d", "copies -o d/pairs.tsv d", "export -o i/all.ndf i",
		"batch -i i -o i/hits q.bin", "batch -i i -o ./i/hits q.bin", "dedup -o i/out --against i o.jsonl", "info --plot i/figures i",
		"eval --plot d/figures d", "backup i i/copy",
		// It contains one.
		"dedup -o d d/a.jsonl", "dedup --write-kept d d/a.jsonl", "dedup --write-kept d d/*.jsonl", "dedup --write-kept d d/e",
		"dedup --annotate linked d/e", "dedup --report d --work w d/e/b.jsonl", "dedup -o d/e d/e/../e/b.jsonl",
		"dedup --work d d/e",
		"dedup --write-kept . o.jsonl", "dedup --write-kept HERE o.jsonl", "dedup --write-kept .. o.jsonl", "dedup -o f/.. d",
		"build -o . p.ndf", "filter --dropped gone.tsv --write-kept d d/a.jsonl", "eval --plot d d/a.jsonl", "info --plot . p.ndf",
		// It contains the current folder.
		"dedup -o / -q d", "dedup --annotate ../.. d",
	} {
		for _, force := range [][]string{nil, {"--force"}} {
			before := contents(t, ".")
			args := strings.Fields(strings.ReplaceAll(command, "HERE", here))
			if !strings.HasPrefix(command, "backup") {
				args = append(args, force...)
			}
			_, stderr := ran(t, exitUsage, args...)
			if !strings.Contains(stderr, "choose another") || strings.Contains(stderr, "remove") {
				t.Errorf("ndd %s: %s", args, stderr)
			}
			if !maps.Equal(contents(t, "."), before) {
				t.Fatalf("ndd %s changed files", args)
			}
		}
	}

	// --force does not replace files that ndd did not make, even if they have the names of its outputs.
	for _, command := range []string{"dedup -o mine d", "dedup --report mine d", "dedup --write-kept mine d", "info --plot mine p.ndf",
		"build -o mine p.ndf", "dedup -o ev.jsonl d"} {
		before := contents(t, ".")
		for _, force := range []string{"-q", "--force"} {
			if _, stderr := ran(t, exitFailed, append(strings.Fields(command), force)...); strings.Contains(stderr, "remove") {
				t.Errorf("ndd %s: %s", command, stderr)
			}
		}
		if !maps.Equal(contents(t, "."), before) {
			t.Fatalf("ndd %s changed files", command)
		}
	}

	// An output next to the inputs is allowed. Only --force replaces it.
	for _, command := range []string{"dedup -o out --write-kept kept --annotate noted --report page --work .w d", "fingerprint -o n.ndf d",
		"passages --words 3 -o dd d", "dedup -o d2 --against i --against p.ndf d", "info --plot plots p.ndf", "build -o i2 p.ndf",
		"export -o ii.ndf i", "batch -i i -o hits q.bin"} {
		args := strings.Fields(command)
		nddOut(t, exitDone, args...)
		if _, stderr := ran(t, exitFailed, args...); !strings.Contains(stderr, "or replace it with --force") {
			t.Errorf("ndd %s: %s", args, stderr)
		}
		nddOut(t, exitDone, append(args, "--force")...)
	}
}

// TestOutputsReserved checks that while a process writes to a name, a second one fails before its work.
func TestOutputsReserved(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeFile(t, "d.jsonl", []byte(outputDocs))
	for _, command := range []string{"dedup -o new/out d.jsonl", "dedup --write-kept out d.jsonl", "passages --words 3 -o hits d.jsonl",
		"fingerprint -o out.ndf d.jsonl"} {
		args := append(strings.Fields(command), "--force")
		var second string
		d := disk.WithFailures(func(call disk.Call, path string) error {
			if call == disk.CallRename && second == "" {
				_, second = ran(t, exitFailed, args...)
			}
			return nil
		})
		must.Do(t, runOn(t.Context(), d, args))
		if !strings.Contains(second, "another process writes to it") || strings.Contains(second, "document") {
			t.Errorf("ndd %s: %q", args, second)
		}
		nddOut(t, exitDone, args...)
	}
	if remaining, err := filepath.Glob(".*"); err != nil || len(remaining) > 0 {
		t.Errorf("%v is left, %v", remaining, err)
	}
}

// TestForceKeepsForeign checks that --force replaces an earlier output, and no file that the command would not write.
func TestForceKeepsForeign(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "o.jsonl", []byte(outputDocs))
	for _, command := range []string{"fingerprint -o p.ndf o.jsonl", "fingerprint -o p.bin o.jsonl",
		"copies -o pairs.tsv o.jsonl", "copies -o pairs.jsonl o.jsonl", "copies -o pairs.parquet o.jsonl",
		"copies sign -o l.sigs o.jsonl", "passages --words 3 -o spans.tsv o.jsonl",
		"fingerprint -o x.ndf --skipped skipped.jsonl o.jsonl", "eval --sample-pairs 1 -o sample.tsv o.jsonl"} {
		nddOut(t, exitDone, strings.Fields(command)...)
		nddOut(t, exitDone, strings.Fields(command+" --force")...) // replaces the output of the same command
	}
	writeFile(t, "notes", []byte("notes of a user\nand more\n"))
	writeFile(t, "table.tsv", []byte("id\turl\nx\ty\n"))
	writeFile(t, "empty.tsv", nil)
	for name, command := range map[string]string{"notes.ndf": "fingerprint -o notes.ndf --force o.jsonl",
		"notes.bin":  "fingerprint -o notes.bin --force o.jsonl",
		"notes.sigs": "copies sign -o notes.sigs --force o.jsonl", "pairs2.jsonl": "copies -o pairs2.jsonl --force o.jsonl",
		"table.tsv": "copies -o table.tsv --force o.jsonl", "spans.tsv": "copies -o spans.tsv --force o.jsonl",
		"pairs.parquet": "passages --words 3 -o pairs.parquet --force o.jsonl",
		"skipped.tsv":   "fingerprint -o y.ndf --skipped skipped.tsv --force o.jsonl"} {
		switch name {
		case "pairs2.jsonl":
			writeFile(t, name, []byte(outputDocs))
		case "table.tsv", "spans.tsv", "pairs.parquet":
		default:
			writeFile(t, name, must.Read(t, "notes"))
		}
		before := must.Read(t, name)
		_, messages := ran(t, exitFailed, strings.Fields(command)...)
		if !strings.Contains(messages, name+": is no earlier output of this command") || string(must.Read(t, name)) != string(before) {
			t.Errorf("%s: %s", command, messages)
		}
	}
	nddOut(t, exitDone, "copies", "-o", "empty.tsv", "--force", "o.jsonl")
}
