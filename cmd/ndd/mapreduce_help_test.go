package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/oracle/must"
)

// jobInputs lists the jobs in an order in which they can run, with the jobs whose results each reads. "documents" are
// the documents of the test.
var jobInputs = []struct {
	job  string
	from []string
}{
	{"fingerprint", []string{"documents"}}, {"signatures", []string{"documents"}},
	{"scan", []string{"fingerprint"}}, {"pairs", []string{"fingerprint"}}, {"dedup", []string{"fingerprint"}},
	{"copies-docs", []string{"signatures"}},
	{"copies-terms", []string{"signatures"}},
	{"copies-sum", []string{"copies-terms"}},
}

// TestMapReduceHelp runs the command lines for a shell in the help of every job and in 'ndd help cluster'. Each job
// reads the results of the one before. The results equal those of one machine.
func TestMapReduceHelp(t *testing.T) {
	t.Parallel()
	sh := shell{t, t.TempDir()}
	mustShell := func(script string) string {
		t.Helper()
		out, err := sh.run("export NDD_QUIET=true\n", script)
		if err != nil {
			t.Fatalf("%s\n%v: %s", script, err, out)
		}
		return out
	}
	in := func(name string) string { return filepath.Join(sh.dir, name) }
	writeParts(t, in("results/documents"), families(60), 3)
	// the content of a file determines its kind
	mustShell("ndd fingerprint -o Q.ndf results/documents/0; mv Q.ndf Q.bin")
	results := map[string]string{} // the output of collect
	maps, _, err := newRoot(&cli.Globals{}).Find([]string{"mapreduce", "map"})
	must.Do(t, err)
	if jobs := maps.Commands(); len(jobs) != len(jobInputs) {
		t.Fatalf("%d jobs are tried, and there are %d", len(jobInputs), len(jobs))
	}
	for _, j := range jobInputs {
		job, _, err := maps.Find([]string{j.job})
		must.Do(t, err)
		must.Do(t, os.Mkdir(in("parts"), 0o755))
		for _, from := range j.from {
			parts, err := filepath.Glob(in("results/" + from + "/*"))
			must.Do(t, err)
			for _, part := range parts {
				must.Do(t, os.Link(part, in("parts/"+from+filepath.Base(part))))
			}
		}
		if j.job == "copies-docs" {
			mustShell("cat parts/* >signatures.tsv")
		}
		script := between(t, job.Long, "Shell:", "Hadoop Streaming:")
		if j.job == "dedup" { // collect ends with status 4: the first round decides nothing
			script = strings.TrimSpace(script) + " || [ $? = 4 ]"
		}
		results[j.job] = mustShell(script)
		out, err := os.ReadFile(in("out"))
		must.Do(t, err)
		writeParts(t, in("results/"+j.job), slices.Collect(strings.Lines(string(out))), 2)
		must.Do(t, os.RemoveAll(in("parts")))
	}
	must.Do(t, os.Rename(in("results/documents"), in("parts")))
	for job, command := range map[string]string{
		"fingerprint": "ndd fingerprint parts/* | cut -f1,2",
		"scan":        "ndd fingerprint -o all.ndf parts/*; ndd batch --scan all.ndf --threshold 0 -k 3 Q.bin",
		"copies-docs": "ndd copies --method winnow parts/*",
		"copies-sum":  "ndd copies --method winnow parts/*",
	} {
		got, want := results[job], mustShell(command)
		if !strings.HasPrefix(job, "copies-") { // whose rows are in the same order, too
			got, want = sorted(got), sorted(want)
		}
		if got != want || want == "" {
			t.Errorf("%s: the lines of its help find\n%s\nand one machine\n%s", job, got, want)
		}
	}
	if got := mustShell(guideCode(t, "cluster", "sh")); got != results["pairs"] || got == "" {
		t.Errorf("the lines of 'ndd help cluster' find\n%s\nwant\n%s", got, results["pairs"])
	}
}

// TestClusterScript runs the script of 'ndd help cluster' without Hadoop. The table and the copies equal those of one
// machine, although IDs recur, are missing, or have arbitrary bytes. A failed step ends the script without output.
func TestClusterScript(t *testing.T) {
	t.Parallel()
	sh := shell{t, t.TempDir()}
	script, err := os.ReadFile("../../bench/cluster/dedup")
	must.Do(t, err)
	if guideCode(t, "cluster", "bash") != string(script) {
		t.Error("the guide cluster and bench/cluster/dedup have different scripts")
	}
	lines := families(90)
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`"id":"d010",`, "", `d011`, "d012", `d02`, `a b!\t`).Replace(line)
	}
	writeParts(t, filepath.Join(sh.dir, "in"), append(lines, `{"id":"e","text":""}`+"\n", `{"id":"f","text":""}`+"\n",
		`{"id":"g","text":"short"}`+"\n", `{"id":"h","text":"short"}`+"\n"), 3)
	out, err := sh.run(`export NDD_QUIET=true HADOOP=no FIELDS='--input-format jsonl' LC_ALL=C
ndd help cluster | sed -n '/^#!/,/^` + "```" + `/p' | sed '$d' >dedup
bash dedup in work out 2>messages || { cat messages; exit 1; }
ndd dedup -o one --write-kept clean in/* --input-format jsonl
sort work/dropped.tsv >got
sort one/dropped.tsv >want
diff got want
[ $(wc -l <got) -gt 50 ]
diff -r -x .ndd-output out clean
`)
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	out, err = sh.run(`export NDD_QUIET=true HADOOP=no
FIELDS='--text body' bash dedup in work9 out9 && exit
[ ! -e out9 ]
echo '{broken' >>in/1
status=0
bash dedup in work4 out4 >messages 2>&1 || status=$?
[ $status = 4 ]
tail -n 1 out4/1
tail -n 1 messages`)
	if err != nil || !strings.Contains(out, `no field "body"`) || !strings.HasSuffix(out, "{broken\nndd: done in part: bad records that maps skipped: 1\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// sorted sorts lines as LC_ALL=C sort does.
func sorted(text string) string { return strings.Join(slices.Sorted(strings.Lines(text)), "") }

// between returns the indented lines of a text between two other lines.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, text, _ = strings.Cut(text, "\n"+from)
	text, _, ok := strings.Cut(text, "\n"+to)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			b.WriteString(line)
		}
	}
	if !ok || b.Len() == 0 {
		t.Fatalf("no lines between %q and %q", from, to)
	}
	return b.String()
}

// families returns documents as JSON lines in groups of three: a text, the same text, and the text with a changed
// word.
func families(n int) (lines []string) {
	rng := rand.New(rand.NewPCG(5, 6))
	var words []string
	for i := range n {
		if i%3 == 0 {
			words = nil
			for range 400 {
				words = append(words, fmt.Sprintf("w%d", rng.IntN(5000)))
			}
		}
		if i%3 == 2 {
			words[rng.IntN(len(words))] = "other"
		}
		lines = append(lines, fmt.Sprintf(`{"id":"d%03d","text":"%s"}`+"\n", i, strings.Join(words, " ")))
	}
	return lines
}

// writeParts writes lines in n files of about the same size into a folder.
func writeParts(t *testing.T, dir string, lines []string, n int) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o755))
	i := 0
	for part := range slices.Chunk(lines, (len(lines)+n-1)/n) {
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(strings.Join(part, "")), 0o644))
		i++
	}
}
