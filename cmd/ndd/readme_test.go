package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// TestReadme runs the blocks of commands of the README in a shell, in their order, in a folder with the files that they
// name. If a block of output follows, the commands must write it, except for numbers and the path of Go's source tree.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	must.Do(t, err)
	root, err := os.Getwd()
	must.Do(t, err)
	sh := shell{t, t.TempDir()}
	readmeFiles(t, sh.dir)
	port := freePort(t)
	blocks := fenced.FindAllStringSubmatch(string(readme), -1)
	if len(blocks) < 6 {
		t.Fatalf("only %d blocks", len(blocks))
	}
	for i, block := range blocks {
		if block[1] == "go" {
			messages, err := program(t, root, block[2])
			if want := blocks[i+1][2]; err != nil || messages != want {
				t.Errorf("%v\n%swrote\n%s\nREADME says\n%s", err, block[2], messages, want)
			}
		}
		if block[1] != "sh" {
			continue
		}
		script := strings.ReplaceAll(block[2], "7744", fmt.Sprint(port))
		script = awaitServers(script)
		messages, err := sh.run("export NDD_ADMIN=off NDD_LISTEN=127.0.0.1:", port, endsServers, script)
		if err != nil {
			t.Errorf("%v\n%s\n%s", err, block[2], messages)
			continue
		}
		if i+1 < len(blocks) && blocks[i+1][1] == "text" {
			if got, want := shape(t, messages), shape(t, blocks[i+1][2]); got != want {
				t.Errorf("%swrote\n%s\nREADME says\n%s", block[2], got, want)
			}
		}
	}
}

// TestTopicExamples runs the blocks of commands of guides in a shell, in their order, in a folder with the files that
// they name. Blocks that the test cannot run are marked as bash instead of sh. TestMapReduceHelp runs the guide
// cluster.
func TestTopicExamples(t *testing.T) {
	t.Parallel()
	port, servePort, adminPort := fmt.Sprint(freePort(t)), fmt.Sprint(freePort(t)), fmt.Sprint(freePort(t))
	for _, c := range []struct {
		page, code    string   // the languages of the blocks that are run
		before, after string   // lines of the test
		replace       []string // old and new texts
		want          []string // texts in the output of the shell
	}{
		{page: "corpus", before: fakeSlurm,
			after: "ndd check prints/*.ndf known; wc -l <fresh/new.jsonl; cmp parts/dropped.tsv slurm-parts/dropped.tsv; " +
				"cmp parts-clean/*/a.jsonl.zst slurm-clean/*/a.jsonl.zst; " +
				"ndd passages -q --ok-status 4 --unit line --min-count 3 --text body --id key --write-kept lines crawl; " +
				"cmp lines/a.jsonl.zst line-clean/*/a.jsonl.zst; cmp lines/b.jsonl.zst line-clean/*/b.jsonl.zst; " +
				"ndd dedup -q --keep longest --text body --id key -o whole crawl; cmp whole/dropped.tsv parts/dropped.tsv",
			want: []string{"skipped: 1 broken record", "Near: the fingerprints differ in 0 bits",
				"known: sound: 14 documents, 14 fingerprints", "\n1\n",
				"took over 1 of 2 files from work; read: crawl/b.jsonl.zst"}},
		{page: "operations", before: "ndd fingerprint -q -o p.ndf docs.jsonl; ndd build -q -o pages p.ndf",
			replace: []string{"/backups/", "", "cp -a", "rm -r pages; cp -a",
				" && ndd serve -i pages", ""},
			after: "ndd check pages pages4",
			want: []string{"pages-monday: sound: 8 documents", "pages: sound: 8 documents, 8 fingerprints, k = 3",
				"pages4: sound: 8 documents, 8 fingerprints, k = 4"}},
		{page: "indexes", before: "ndd fingerprint -q -o docs.ndf docs.jsonl; ndd build -q -o index docs.ndf",
			after: "cmp hits.tsv scanned.tsv", want: []string{"queries 8 with-hits 8 hits 46"}},
		{page: "tuning", before: "ndd build -q -o index F.bin; cp Q.bin q.bin", after: "ls",
			want: []string{"cpu.pprof"}},
		{page: "recipes", code: "sh|json", before: wordFiles,
			replace: []string{`{"version"`, `recipe '{"version"`, "}\n", "}'\n"},
			want: []string{"\n北京大学 8 ", "features 16\n", "features 17\n", "\nrun 8 ", "\ndie mühlen 8 ", "\nmills 16 ",
				"\nbit\tvector\tvalue\n"}},
		{page: "billions", replace: []string{"7744", servePort, "7745", adminPort},
			before: "export NDD_LISTEN=127.0.0.1:" + servePort + " NDD_ADMIN=127.0.0.1:" + adminPort,
			after:  "ndd check index4",
			want: []string{"halves in the planar layout takes 94.2 GiB", "index: sound: 13 documents", "with-hits 20",
				`"k":3,"documents":0,"truncated":false,"hits":[]}`, "ndd_index_documents 14", "index4: sound: 14 documents"}},
		{page: "crawler",
			before: "ndd serve --memory-only --admin off --listen 127.0.0.1:" + port +
				" >ready & until grep -q ready ready; do sleep 0.02; done",
			replace: []string{"7744", port},
			want: []string{`"inserted":true,"id":"https://a.example/"`, `"inserted":false`, `"ids":["https://a.example/"]`,
				`{"status":422,"error":"body.documents[1].html: document too short`, `{"deleted":1}`}},
	} {
		t.Run(c.page, func(t *testing.T) {
			t.Parallel()
			code := strings.NewReplacer(c.replace...).Replace(guideCode(t, c.page, cmp.Or(c.code, "sh")))
			script := awaitServers(endsServers + c.before + "\n" + code + c.after + "\n")
			sh := shell{t, t.TempDir()}
			readmeFiles(t, sh.dir)
			corpusFiles(t, sh.dir)
			messages, err := sh.run(script)
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, script, messages)
			}
			for _, want := range c.want {
				if !strings.Contains(messages, want) {
					t.Errorf("%s\nwithout %q:\n%s", script, want, messages)
				}
			}
		})
	}
}

// wordFiles are the files that recipes name, and a function of the shell that shows the features of a recipe.
const wordFiles = `echo 'Die Mühlen der Stadt. The mills were running. كتــابٌ أحمد 北京大学' >page.txt
echo 北京大学 >words.txt
echo stadt >stops.txt
recipe() { echo "$1" >r.json; ndd fingerprint -q --recipe r.json --explain page.txt | grep -v '^recipe' | sed '/^bit/,$d' | tr '\t' ' '; }
`

// fakeSlurm is a function of the shell that runs jobs as sbatch does, at once.
const fakeSlurm = `sbatch() {
	array=0-0
	for arg; do
		case $arg in --array=*) array=${arg#*=};; --wrap=*) wrap=${arg#*=};; esac
	done
	for task in $(seq ${array%-*} ${array#*-}); do
		SLURM_ARRAY_TASK_ID=$task bash -euo pipefail -c "$wrap" >&2
	done
	echo 4711
}`

// TestAirflowExample runs the commands of the Airflow example of 'ndd help corpus', in their order. Their outputs equal
// the outputs of one process.
func TestAirflowExample(t *testing.T) {
	t.Parallel()
	example := regexp.MustCompile(`"\n +f"`).ReplaceAllString(guideCode(t, "corpus", "python"), "")
	sh := shell{t, t.TempDir()}
	corpusFiles(t, sh.dir)
	commands := regexp.MustCompile(`"(ndd [^"]*)"`).FindAllStringSubmatch(example, -1)
	if len(commands) != 3 {
		t.Fatalf("%q", commands)
	}
	script := ""
	for _, c := range commands {
		for i := range 4 {
			if command := strings.ReplaceAll(c[1], "{i}", fmt.Sprint(i)); i == 0 || command != c[1] {
				script += command + "\n"
			}
		}
	}
	script += "ndd dedup -q --text body --id key -o one --write-kept clean crawl || [ $? = 4 ]\n" +
		"cmp one/dropped.tsv air-parts/dropped.tsv\ncmp clean/a.jsonl.zst air-clean/*/a.jsonl.zst\n" +
		"cmp clean/b.jsonl.zst air-clean/*/b.jsonl.zst\n"
	if messages, err := sh.run(script); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, messages)
	}
}

// corpusFiles writes the files that 'ndd help corpus' reads into a folder.
func corpusFiles(t *testing.T, dir string) {
	t.Helper()
	lines := ""
	for i := range 20 { // the document of row 17 equals the one of row 4
		i = i % 13
		lines += fmt.Sprintf(`{"key": "%d", "body": "on day %d of month %x the %xth ship of the %x line came in with %x `+
			`crates of %x and %x"}`+"\n",
			i, i, i*i, 7*i, i^5, 3*i, i*i*i, 11*i)
	}
	for _, folder := range []string{"crawl", "prints"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	for name, text := range map[string]string{"crawl/a.jsonl.zst": lines, "crawl/b.jsonl.zst": lines,
		"crawl.jsonl.zst": lines + "broken\n",
		"crawl.jsonl":     lines,
		"new.jsonl": lines + `{"key": "new", "body": "nothing of this was heard before the harvest, and the old clerk ` +
			`wrote it all down"}` + "\n"} {
		data := []byte(text)
		if strings.HasSuffix(name, ".zst") {
			data = zstded(data)
		}
		writeFile(t, filepath.Join(dir, name), data)
	}
}

var (
	fenced     = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	servedLine = regexp.MustCompile(`(?m)^(ndd serve .*) &\n`)
	numbers    = regexp.MustCompile(`[0-9][0-9,.]*`)
)

// guideCode returns the blocks of code of a guide in some languages, such as "sh|json".
func guideCode(t *testing.T, guide, languages string) string {
	t.Helper()
	page, err := pages.ReadFile("help/" + guide + ".md")
	must.Do(t, err)
	code := codeOf(string(page), languages)
	if code == "" {
		t.Fatalf("%s.md has no code in %s", guide, languages)
	}
	return code
}

// codeOf returns the blocks of code of a Markdown page in some languages.
func codeOf(page, languages string) (code string) {
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		if slices.Contains(strings.Split(languages, "|"), block[1]) {
			code += block[2]
		}
	}
	return code
}

// shape returns an output without numbers, empty lines and the path of Go's source tree.
func shape(t *testing.T, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, goSource(t), "/usr/local/go/src")
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, numbers.ReplaceAllString(line, "0"))
		}
	}
	return strings.Join(lines, "\n")
}

// freePort returns a port without a listener. It is outside the range that the system uses for connections, so nothing
// else takes it.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// program runs a Go program, which may import this module, and returns its output.
func program(t *testing.T, root, source string, args ...string) (string, error) {
	t.Helper()
	path := writeFile(t, filepath.Join(t.TempDir(), "main.go"), []byte(source))
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", path}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A shell runs scripts in a folder.
type shell struct {
	t   *testing.T
	dir string
}

// endsServers is a line that ends the background processes of a script with the script.
const endsServers = "\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n"

// awaitServers returns the script with a loop after each server that waits until the server is ready.
func awaitServers(script string) string {
	return servedLine.ReplaceAllString(script, ": >served\n$1 >served 2>messages &\nuntil grep -q ready served; do "+
		"sleep 0.05; kill -0 $$!; done\n")
}

// run runs a script and returns its output. It skips the test if the script needs curl, and curl is not installed.
func (s shell) run(script ...any) (string, error) {
	s.t.Helper()
	text := fmt.Sprint(script...)
	if _, err := exec.LookPath("curl"); err != nil && strings.Contains(text, "curl ") {
		s.t.Skip("needs curl, with which .ci/run runs this: ", err)
	}
	cmd := exec.CommandContext(s.t.Context(), "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir, cmd.WaitDelay = s.dir, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// readmeFiles writes the files that the README's commands read into a folder.
func readmeFiles(t *testing.T, dir string) {
	t.Helper()
	write := func(name string, data []byte) { writeFile(t, filepath.Join(dir, name), data) }
	const text = "the river rose two metres on Sunday night and flooded the lower town, and nobody was hurt, the " +
		"mayor said"
	lines := ""
	for i := range 8 {
		lines += fmt.Sprintf(`{"id": "%d", "date": "2024-01-0%d", "text": "%s in his speech number %d of the `+
			`year"}`+"\n", i, i+1, text, i)
	}
	write("crawl.jsonl.zst", zstded([]byte(lines)))
	write("a.jsonl.gz", gzipped(lines))
	write("b.jsonl.gz", gzipped(lines))
	write("docs.jsonl", []byte(lines))
	write("new.jsonl", []byte(lines))
	write("evals.jsonl", []byte(`{"question":"How many metres did the river rise on Sunday night?","answer":"two"}`+"\n"))
	write("pairs.tsv", []byte("id_a\tid_b\tlabel\n0\t1\tduplicate\n2\t3\tduplicate\n"))
	page := "<html><body><p>" + text + "</p></body></html>"
	const mill = "<!doctype html><title>Spring at the mill</title>\n<p>The mill by the river opened its doors again " +
		"this spring. Flour is ground on Tuesdays and Fridays, and\nvisitors may watch from the gallery above the " +
		"stones. Bread from the old oven is sold until noon.</p>\n"
	write("page.html", []byte(mill))
	write("again.html", []byte(strings.Replace(mill, "Tuesdays", "Mondays", 1)))
	write("old.html", []byte(page))
	write("new.html", []byte(strings.Replace(page, "two", "three", 1)))
	write("c.warc.gz", gzipped(fmt.Sprintf("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: "+
		"http://a/\r\nWARC-Date: 2024-01-02T03:04:05Z\r\nContent-Type: text/plain\r\nContent-Length: "+
		"%d\r\n\r\n%s\r\n\r\n", len(text), text)))
	base, queries := sets.Planted(2000, 100)
	write("F.bin", store.Bytes64(base))
	write("Q.bin", store.Bytes64(queries))
}
