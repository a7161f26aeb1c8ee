package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/bucket"
	"example.org/ndd/engine/oracle/must"
)

// newBucket starts a server of objects and has commands find it.
func newBucket(t *testing.T) *bucket.Server {
	t.Helper()
	s := bucket.New(t)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return s
}

// objects starts a server with two shards, a table and a page, and sets the environment so that commands use it. It
// returns a folder with the same files.
func objects(t *testing.T) (s *bucket.Server, dir string) {
	s = newBucket(t)
	dir = t.TempDir()
	const fence = "The fence around the orchard is old and a goat of the neighbours has been through the hole."
	boats, meeting := everywhere[0].text, everywhere[1].text
	for name, content := range map[string][]byte{
		"in/a.jsonl.gz":   gzipped(`{"id":"a1","text":"` + fence + `"}` + "\n" + `{"id":"a2","text":"` + boats + `"}` + "\n"),
		"in/deep/b.jsonl": []byte(`{"id":"b1","text":"` + fence + `"}` + "\n"),
		"in/t.parquet":    parquetOf(t, []testText{{"p1", boats}, {"p2", meeting}})} {
		writeFile(t, filepath.Join(dir, name), content)
		s.Put(t, name, content)
	}
	return s, dir
}

// nddOut runs a command, demands an exit status, and returns standard output.
func nddOut(t *testing.T, status int, args ...string) string {
	t.Helper()
	out, _ := ran(t, status, args...)
	return out
}

// TestObjectInputs checks that a prefix, a pattern, names and a URL give the same documents as files on disk, even if
// connections break.
func TestObjectInputs(t *testing.T) {
	s, dir := objects(t)
	want := nddOut(t, exitDone, "fingerprint", "-q", dir+"/in")
	if strings.Count(want, "\n") != 5 {
		t.Fatal(want)
	}
	for _, inputs := range [][]string{{"s3://docs/in"}, {"s3://docs/in/"},
		{"s3://docs/in/*.gz", "s3://docs/in/deep/b.jsonl", "s3://docs/in/t.parquet"},
		{s.URL + "/docs/in/a.jsonl.gz", s.URL + "/docs/in/deep/b.jsonl", s.URL + "/docs/in/t.parquet"}} {
		s.Fail.Store(1)
		if got := nddOut(t, exitDone, append([]string{"fingerprint", "-q"}, inputs...)...); got != want {
			t.Errorf("%s:\n%swant\n%s", inputs, got, want)
		}
	}
	nddOut(t, exitFailed, "fingerprint", "s3://docs/none")
	nddOut(t, exitFailed, "fingerprint", "s3://docs/in/*.none")
	nddOut(t, exitFailed, "fingerprint", "s3://nosuchbucket/x")
}

// TestObjectOutputs checks that results and copies become objects with the same bytes as on disk. They are replaced
// only with --force.
func TestObjectOutputs(t *testing.T) {
	s, dir := objects(t)
	nddOut(t, exitDone, "dedup", "-q", "-o", dir+"/out", "--write-kept", dir+"/kept", dir+"/in")
	nddOut(t, exitDone, "dedup", "-q", "-o", "s3://docs/out", "--write-kept", "s3://docs/kept/", "s3://docs/in")
	for _, name := range []string{"out/clusters.tsv", "out/dropped.tsv", "out/kept.txt", "kept/a.jsonl.gz",
		"kept/deep/b.jsonl", "kept/t.parquet"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		must.Do(t, err)
		got := bytes.ReplaceAll(s.Get(t, name), []byte("s3://docs/in"), []byte(dir+"/in"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	nddOut(t, exitFailed, "dedup", "-q", "-o", "s3://docs/out", "s3://docs/in")
	nddOut(t, exitDone, "dedup", "-q", "--force", "-o", "s3://docs/out", "s3://docs/in")
	nddOut(t, exitDone, "fingerprint", "-q", "-o", "s3://docs/prints.ndf", "s3://docs/in")
	nddOut(t, exitDone, "fingerprint", "-q", "-o", dir+"/prints.ndf", "s3://docs/in")
	nddOut(t, exitDone, "build", "-q", "-o", dir+"/index", "s3://docs/prints.ndf")
	nddOut(t, exitDone, "batch", "-q", "-i", dir+"/index", "-o", "s3://docs/hits.tsv", "s3://docs/prints.ndf")
	if hits := s.Get(t, "hits.tsv"); string(hits) != nddOut(t, exitDone, "batch", "-q", "-i", dir+"/index",
		dir+"/prints.ndf") || bytes.Count(hits, []byte("\n")) != 9 {
		t.Errorf("%s", hits)
	}
	nddOut(t, exitFailed, "fingerprint", "-q", "-o", "s3://docs/prints.ndf", "s3://docs/in")
	// Export can write to an object, too.
	nddOut(t, exitDone, "export", "-q", "-o", "s3://docs/all.ndf", dir+"/index")
	nddOut(t, exitFailed, "export", "-q", "-o", "s3://docs/all.ndf", dir+"/index")
	nddOut(t, exitDone, "build", "-q", "-o", dir+"/index4", "-k", "4", "s3://docs/all.ndf")
	nddOut(t, exitDone, "export", "-q", "-o", "s3://docs/all.tsv", dir+"/index4")
	if lines := s.Get(t, "all.tsv"); string(lines) != nddOut(t, exitDone, "export", "-q", dir+"/index") ||
		len(lines) == 0 {
		t.Errorf("%s", lines)
	}
	// Whatever reads fingerprints reads them from objects.
	same, err := os.ReadFile(dir + "/prints.ndf")
	must.Do(t, err)
	s.Put(t, "prints.ndf", same)
	for _, command := range []string{"dedup -q", "check", "info --sections", "design --all --sample",
		"batch -q --scan " + dir + "/prints.ndf", "batch -q " + dir + "/prints.ndf --scan"} {
		args := append(strings.Fields(command), "s3://docs/prints.ndf")
		want := nddOut(t, exitDone, append(strings.Fields(command), dir+"/prints.ndf")...)
		if got := nddOut(t, exitDone, args...); strings.ReplaceAll(got, "s3://docs/", dir+"/") != want {
			t.Errorf("ndd %s:\n%s\nwant\n%s", args, got, want)
		}
	}
}

// TestObjectRows checks that compare reads the row of an object as the row of a file.
func TestObjectRows(t *testing.T) {
	_, dir := objects(t)
	files := nddOut(t, exitDone, "compare", dir+"/in/deep/b.jsonl:1", dir+"/in/a.jsonl.gz:2")
	if got := nddOut(t, exitDone, "compare", "s3://docs/in/deep/b.jsonl:1", "s3://docs/in/a.jsonl.gz:2"); got != files {
		t.Errorf("%s\nwant\n%s", got, files)
	}
}

// TestObjectShares checks that the three steps of a job in shares read and write objects. The copies equal the copies
// of one run.
func TestObjectShares(t *testing.T) {
	s, dir := objects(t)
	nddOut(t, exitDone, "dedup", "-q", "--write-kept", dir+"/kept", dir+"/in")
	for _, i := range []string{"0/2", "1/2"} {
		nddOut(t, exitDone, "fingerprint", "-q", "--shard", i, "-o", "s3://docs/prints/"+i[:1]+".ndf", "s3://docs/in")
	}
	nddOut(t, exitDone, "dedup", "-q", "-o", "s3://docs/out", "s3://docs/prints/*.ndf")
	for _, i := range []string{"0/2", "1/2"} {
		nddOut(t, exitDone, "filter", "-q", "--shard", i, "--dropped", "s3://docs/out/", "--write-kept", "s3://docs/kept"+i[:1], "s3://docs/in")
	}
	for _, name := range []string{"1/a.jsonl.gz", "1/deep/b.jsonl", "0/t.parquet"} { // ordered by size
		want, err := os.ReadFile(filepath.Join(dir, "kept"+name[1:]))
		must.Do(t, err)
		if got := s.Get(t, "kept"+name); !bytes.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// The units of shares, their join and its decisions can be objects, too.
	nddOut(t, exitDone, "passages", "-q", "--unit", "line", "--ok-status", "4", "--write-kept", dir+"/lines", dir+"/in")
	for _, i := range []string{"0/2", "1/2"} {
		nddOut(t, exitDone, "passages", "-q", "--unit", "line", "--shard", i, "-o", "s3://docs/units/"+i[:1]+".units", "s3://docs/in")
	}
	nddOut(t, exitDone, "passages", "-q", "--unit", "line", "--decisions", "s3://docs/lines", "s3://docs/units/*.units")
	nddOut(t, exitDone, "filter", "-q", "--ok-status", "4", "--dropped", "s3://docs/lines", "--write-kept", dir+"/cut", "s3://docs/in")
	if !maps.Equal(contents(t, dir+"/cut"), contents(t, dir+"/lines")) {
		t.Error("other lines are cut")
	}
	s.Put(t, "in/deep/b.jsonl", append(s.Get(t, "in/deep/b.jsonl"), ' '))
	_, stderr := ran(t, exitCorrupt, "filter", "-q", "--dropped", "s3://docs/out", "--write-kept", dir+"/x", "s3://docs/in")
	if !strings.Contains(stderr, "s3://docs/in/deep/b.jsonl has ") {
		t.Error(stderr)
	}
}

// TestObjectWork checks that a second run reuses the results of objects, except an object that was replaced by another
// one of the same size.
func TestObjectWork(t *testing.T) {
	s, dir := objects(t)
	work := func(n int) []string {
		return []string{"dedup", "--work", dir + "/work", "-o", fmt.Sprint(dir, "/out", n),
			"--write-kept", fmt.Sprintf("s3://docs/kept%d/", n), "s3://docs/in"}
	}
	ran(t, exitDone, work(1)...)
	_, stderr := ran(t, exitDone, work(2)...)
	if !strings.Contains(stderr, "took over 3 of 3 files") {
		t.Error(stderr)
	}
	if !maps.Equal(contents(t, dir+"/out1"), contents(t, dir+"/out2")) ||
		!bytes.Equal(s.Get(t, "kept1/t.parquet"), s.Get(t, "kept2/t.parquet")) {
		t.Error("other results")
	}
	s.Put(t, "in/deep/b.jsonl", bytes.ReplaceAll(s.Get(t, "in/deep/b.jsonl"), []byte("goat"), []byte("calf")))
	if _, stderr = ran(t, exitDone, work(3)...); !strings.Contains(stderr, "read: s3://docs/in/deep/b.jsonl") {
		t.Error(stderr)
	}
}

// TestObjectAborted checks that a failed command leaves no object.
func TestObjectAborted(t *testing.T) {
	s, _ := objects(t)
	s.Put(t, "in/bad.jsonl", []byte("{\"id\":\"x\",\"text\":\"one\"}\nbroken\n"))
	nddOut(t, exitFailed, "dedup", "--strict", "-o", "s3://docs/out", "--write-kept", "s3://docs/kept", "s3://docs/in")
	nddOut(t, exitFailed, "fingerprint", "--strict", "-o", "s3://docs/x.ndf", "--skipped", "s3://docs/skipped.tsv",
		"s3://docs/in")
	for _, name := range []string{"out/clusters.tsv", "kept/a.jsonl.gz", "x.ndf", "skipped.tsv"} {
		if got := s.Get(t, name); got != nil {
			t.Errorf("%s is there", name)
		}
	}
}
