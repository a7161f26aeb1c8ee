package mapreduce_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/store"
)

// eachSplit runs a test with several numbers of parts. After the first set of a test it uses only 2 and 7.
func eachSplit(t *testing.T, first bool, f func(t *testing.T, l *localCluster)) {
	for _, n := range splits {
		if !first && !*full && n != 2 && n != 7 {
			continue
		}
		t.Run(fmt.Sprintf("splits=%d", n), func(t *testing.T) { f(t, newLocal(t, n, 1)) })
	}
}

var full = flag.Bool("splits.full", false, "run every set of fingerprints with every number of parts")

// TestScan compares hits with brute force, for several divisions of F.
func TestScan(t *testing.T) {
	for _, set := range sets.All(600, 60, 3, 5) {
		job := mapreduce.Scan{Queries: files.New(t, "q.bin", store.Bytes64(set.Queries)), K: 3}
		want := hitLines(set, "%06d")
		eachSplit(t, set.Name == "clustered", func(t *testing.T, l *localCluster) {
			requireSame(t, set.Name, l.collect(l.run(job, l.cut(fingerprintLines(set.Base))), l.reduces), want)
		})
	}
}

// hitLines are the hits of brute force in order, with rows in some format.
func hitLines(set sets.Set, row string) (lines []string) {
	for _, h := range oracle.Search(set.Base, set.Queries, 3) {
		lines = append(lines, fmt.Sprintf("%d\t%016x\t%d\t"+row+"\n", h.Query, h.Fingerprint, h.Distance, h.Row))
	}
	slices.Sort(lines)
	return lines
}

// jsonLines are documents whose IDs have everything that a line cannot have.
func jsonLines(n int) string {
	var b strings.Builder
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho " +
		"sigma tau upsilon")
	for i := range n {
		fmt.Fprintf(&b, `{"id":"~doc %d\t\\ é","text":"`, i)
		for j := range 3 * (i % 40) {
			fmt.Fprintf(&b, "%s%d ", words[(i*7+j*j)%len(words)], (i+j)%5)
		}
		b.WriteString("\"}\n")
	}
	return b.String()
}

// TestFingerprint compares fingerprints and IDs with package ingest.
func TestFingerprint(t *testing.T) {
	input := jsonLines(300)
	var want []string
	_, err := ingest.Run(t.Context(), []string{"-"},
		ingest.Config{Document: format.Options{Format: format.JSONL},
			Stdin: strings.NewReader(input)}, func(r ingest.Record) error {
			fingerprint := "----------------"
			if r.OK {
				fingerprint = r.Fingerprint.String()
			}
			want = append(want, fingerprint+"\t"+result.Escape(r.ID)+"\n")
			return nil
		})
	must.Do(t, err)
	slices.Sort(want)
	job := mapreduce.Fingerprint{Recipe: simhash.Default()}
	eachSplit(t, true, func(t *testing.T, l *localCluster) {
		l.options.Columns = 2
		parts := l.cut(input)
		requireSame(t, "lines", l.collect(l.run(job, parts), len(parts)), want)
	})
}
