package ingest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
)

// goRoot returns the folder of the Go that runs the tests, which a binary built with -trimpath does not know.
func goRoot(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(root))
}

// goSource is the part of Go's source tree that the tests read: a few hundred files of text, some of them binary.
func goSource(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(goRoot(t), "src", "compress")
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pack copies a folder with every file compressed, and gives it a second member or frame.
func pack(t *testing.T, from string, suffix string, compress func([]byte) []byte) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil || d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		half := len(content) / 2
		packed := append(compress(content[:half]), compress(content[half:])...)
		return os.WriteFile(filepath.Join(to, rel+suffix), packed, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestRunSeesThroughCompression: packed files give the fingerprints of the plain ones, whatever is text among them.
func TestRunSeesThroughCompression(t *testing.T) {
	dir := goSource(t)
	plain, _, err := run(t, ingest.Config{}, dir)
	if err != nil || len(plain) < 30 {
		t.Fatalf("%d documents, %v", len(plain), err)
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	for _, c := range []struct {
		suffix   string
		compress func([]byte) []byte
	}{
		{".gz", func(b []byte) []byte {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			w.Write(b) // a bytes.Buffer takes everything
			w.Close()
			return out.Bytes()
		}},
		{".zst", func(b []byte) []byte { return encoder.EncodeAll(b, nil) }},
	} {
		t.Run(c.suffix, func(t *testing.T) {
			to := pack(t, dir, c.suffix, c.compress)
			packed, _, err := run(t, ingest.Config{}, to)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]ingest.Record{}
			for _, r := range packed {
				rel, err := filepath.Rel(to, r.ID[:len(r.ID)-len(c.suffix)])
				if err != nil {
					t.Fatal(err)
				}
				if r.Source != r.ID {
					t.Errorf("%s: read from %s", r.ID, r.Source)
				}
				r.ID = filepath.Join(dir, rel)
				r.Source = r.ID
				found[r.ID] = r
			}
			for _, want := range plain {
				if filepath.Ext(want.ID) == ".bz2" {
					continue // one compression is seen through, not one within another
				}
				got := found[want.ID]
				got.Modified, got.Unit = want.Modified, want.Unit // the copies are younger, and their names sort otherwise
				if got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
		})
	}
}

// TestRunFindsNearDuplicates: a file and the same file with one comment more are near, other files are not equal.
func TestRunFindsNearDuplicates(t *testing.T) {
	dir := goSource(t)
	near := t.TempDir()
	source, err := os.ReadFile(filepath.Join(dir, "flate", "deflate.go"))
	if err != nil {
		t.Fatal(err)
	}
	edited := append([]byte("// This copy has one more comment at its beginning, and no other change.\n"), source...)
	if err := os.WriteFile(filepath.Join(near, "copy.go"), edited, 0o644); err != nil {
		t.Fatal(err)
	}
	records, _, err := run(t, ingest.Config{}, filepath.Join(near, "copy.go"), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		d := simhash.Distance(records[0].Fingerprint, r.Fingerprint)
		isOriginal := filepath.Base(r.ID) == "deflate.go" && filepath.Base(filepath.Dir(r.ID)) == "flate"
		if isOriginal != (d <= 3) {
			t.Errorf("%s is at distance %d", r.ID, d)
		}
	}
}

// BenchmarkRun ingests a part of Go's source tree, where most of the time goes into opening small files.
func BenchmarkRun(b *testing.B) {
	dir := filepath.Join(goRoot(b), "src", "net")
	var report ingest.Report
	for b.Loop() {
		var err error
		report, err = ingest.Run(b.Context(), []string{dir}, ingest.Config{}, func(ingest.Record) error { return nil })
		if err != nil || report.Documents < 100 {
			b.Fatalf("%+v, %v", report, err)
		}
	}
	b.SetBytes(report.BytesRead)
	b.ReportMetric(float64(report.Documents*b.N)/b.Elapsed().Seconds(), "documents/s")
}
