package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// sentence is the i-th of many texts with features enough.
func sentence(i int) string {
	return strings.Repeat(fmt.Sprintf("Text number %d says one thing, and document %d says another; both of them say "+
		"it at length. ", i, i*i), 1+i%7)
}

// corpus writes files of lines of all sizes, pages and texts, some of them broken or damaged, and returns the
// folder.
func corpus(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	var lines bytes.Buffer
	for i := range n {
		switch i % 10 {
		case 3:
			lines.WriteString("{broken\n")
		case 7:
			lines.WriteString("{\"text\":\"short\"}\n")
		default:
			fmt.Fprintf(&lines, "{\"id\":\"line %d\",\"text\":%q}\n", i, sentence(i))
		}
	}
	write := func(name string, content []byte) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	write("lines.jsonl", lines.Bytes())
	for i := range n / 10 {
		write(fmt.Sprintf("page%04d.html", i), []byte("<p>"+sentence(i)))
		write(fmt.Sprintf("text%04d.txt", i), []byte(sentence(i)+" \u00e9\u00e9\xff"))
	}
	for i := range n / 20 {
		var b bytes.Buffer
		for j := range 1 + i*i%700 {
			fmt.Fprintf(&b, "{\"text\":\"the record %d of file %d has words enough for a fingerprint of its own\"}\n", j, i)
		}
		name := fmt.Sprintf("%04d.jsonl", i)
		if i%10 == 3 { // an archive that is cut short
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			w.Write(b.Bytes())
			w.Close()
			z.Truncate(z.Len() * 3 / 4)
			b, name = z, name+".gz"
		}
		write(name, b.Bytes())
	}
	return dir
}

// run collects the records of a run.
func run(t *testing.T, cfg ingest.Config, inputs ...string) (records []ingest.Record, report ingest.Report, err error) {
	t.Helper()
	report, err = ingest.Run(t.Context(), inputs, cfg, func(r ingest.Record) error {
		records = append(records, r)
		return nil
	})
	return records, report, err
}

// oneByOne computes the expected results of a run without a pipeline.
func oneByOne(t *testing.T, inputs ...string) (records []ingest.Record, skips []string) {
	t.Helper()
	f, err := simhash.New(simhash.Default())
	must.Do(t, err)
	extractor := format.NewExtractor(t.Context(), format.Options{})
	units := 0
	for unit, err := range format.Scan(t.Context(), inputs, format.Options{}, nil) {
		var doc format.Document
		if err == nil {
			units++
			doc, err = extractor.Extract(unit)
		}
		if skip, ok := errors.AsType[*input.Skip](err); ok {
			skips = append(skips, skip.Error())
			continue
		}
		must.Do(t, err)
		fp, n, ok := f.Fingerprint(doc.Text)
		sum := highwayhash.Sum128([]byte(doc.Text), []byte("ndd ingest: texts, HighwayHash  "))
		hash := [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])}
		records = append(records, ingest.Record{ID: doc.ID, Fingerprint: fp, OK: ok, Hash: hash, Features: n,
			TextBytes: len(doc.Text),
			Modified:  doc.Modified, Source: doc.Source, Line: doc.Line, Unit: units - 1})
	}
	return records, skips
}

func TestRunEqualsOneByOne(t *testing.T) {
	const n = 1500
	dir := corpus(t, n)
	want, wantSkips := oneByOne(t, dir)
	tooFew := 0
	for _, r := range want {
		if !r.OK {
			tooFew++
		}
	}
	if len(want) < 10_000 || len(wantSkips) < n/10+5 {
		t.Fatalf("%d records, %d skips", len(want), len(wantSkips))
	}
	for _, threads := range []int{0, 1, 3, 16} {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			var skips []string
			skipped := func(s *input.Skip) error { skips = append(skips, s.Error()); return nil }
			got, report, err := run(t, ingest.Config{Threads: threads, Skipped: skipped}, dir)
			must.Do(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(wantSkips, skips); diff != "" {
				t.Error(diff)
			}
			text := int64(0)
			for _, r := range want {
				text += int64(r.TextBytes)
			}
			if report.Documents != len(want) || report.TooFew != tooFew || report.Repaired != n/10 ||
				report.Skipped.Lost() != len(wantSkips) || report.TextBytes != text {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func TestRunStopsAtErrors(t *testing.T) {
	dir := corpus(t, 500)
	lines := filepath.Join(dir, "lines.jsonl")

	got, _, err := run(t, ingest.Config{Document: format.Options{Strict: true}}, lines)
	if want := lines + ":4: broken"; err == nil || !strings.HasPrefix(err.Error(), want) || len(got) != 3 {
		t.Errorf("strict: %d records, then %v; want 3 and %s", len(got), err, want)
	}

	gone := filepath.Join(dir, "gone")
	got, report, err := run(t, ingest.Config{}, lines, gone, dir)
	if want := gone + ": no such file"; err == nil || !strings.HasPrefix(err.Error(), want) || len(got) != 450 ||
		report.Documents != 450 {
		t.Errorf("missing: %d records, then %v; want 450 and %s", len(got), err, want)
	}

	stop := errors.New("disk full")
	calls := 0
	_, err = ingest.Run(t.Context(), []string{dir}, ingest.Config{}, func(ingest.Record) error {
		if calls++; calls == 100 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || calls != 100 {
		t.Errorf("emit: %d calls, then %v", calls, err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	_, err = ingest.Run(ctx, []string{dir}, ingest.Config{}, func(ingest.Record) error { cancel(why); return nil })
	if !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}

	bad := simhash.Simhash()
	bad.WordShingle = 99
	if _, _, err = run(t, ingest.Config{Recipe: bad}, dir); err == nil || !strings.Contains(err.Error(),
		"word_shingle is 99") {
		t.Errorf("recipe: %v", err)
	}
	if _, _, err = run(t, ingest.Config{Document: format.Options{Format: "doc"}}, dir); err == nil ||
		!strings.Contains(err.Error(), `format "doc"`) {
		t.Errorf("format: %v", err)
	}
}

// TestExtract checks that units that are not wanted are counted but not processed, results come in order, and an error
// of a worker ends the run.
func TestExtract(t *testing.T) {
	dir := corpus(t, 300)
	all, _ := oneByOne(t, dir)
	_, first, err := run(t, ingest.Config{}, dir)
	must.Do(t, err)
	var want []string
	var units []int
	for _, r := range all {
		if r.Unit%3 == 1 {
			want = append(want, fmt.Sprint(r.Unit, " ", r.ID))
			units = append(units, r.Unit)
		}
	}
	stop := errors.New("no more")
	type work = func(int, *format.Document) (string, error)
	var name work = func(unit int, doc *format.Document) (string, error) { return fmt.Sprint(unit, " ", doc.ID), nil }
	for _, threads := range []int{1, 4} {
		extract := func(worker func(context.Context) (work, error), emit func(string) error) (ingest.Report, error) {
			return ingest.Extract(t.Context(), []string{dir}, ingest.Config{Threads: threads}, ingest.Steps[string]{
				FileUnits: first.FileUnits, Want: func(unit int) bool { return unit%3 == 1 }, Worker: worker, Emit: emit})
		}
		var got []string
		workers := atomic.Int32{}
		report, err := extract(func(context.Context) (work, error) { workers.Add(1); return name, nil },
			func(s string) error { got = append(got, s); return nil })
		if err != nil || report.Units != all[len(all)-1].Unit+1 || report.Documents != len(got) ||
			int(workers.Load()) != threads {
			t.Fatalf("%+v, %v: %d results of %d units, %d workers", report, err, len(got), len(all), workers.Load())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if _, err := extract(func(context.Context) (work, error) {
			return func(unit int, _ *format.Document) (string, error) {
				if unit > 100 {
					return "", stop
				}
				return "", nil
			}, nil
		}, nil); !errors.Is(err, stop) {
			t.Errorf("a worker's error: %v", err)
		}
		if _, err := extract(func(context.Context) (work, error) { return nil, stop }, nil); !errors.Is(err, stop) {
			t.Errorf("no worker: %v", err)
		}
		n := 0
		report, err = extract(func(context.Context) (work, error) { return name, nil }, func(string) error {
			if n++; n == 40 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || report.Units != units[39]+1 {
			t.Errorf("emit ends it at unit %d: %+v, %v", units[39], report, err)
		}
	}
}

// TestCutDocument cancels the context while the result of a document is made. The result must not be emitted, and no
// other document is processed.
func TestCutDocument(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	emitted, worked := 0, 0
	in := strings.NewReader(`{"id":1,"text":"a"}` + "\n" + `{"id":2,"text":"b"}`)
	_, err := ingest.Extract(ctx, []string{input.Stdin}, ingest.Config{Threads: 1, Stdin: in},
		ingest.Steps[int]{
			Worker: func(inner context.Context) (func(int, *format.Document) (int, error), error) {
				return func(int, *format.Document) (int, error) {
					worked++
					cancel()
					<-inner.Done()
					return 1, nil
				}, nil
			},
			Emit: func(int) error { emitted++; return nil },
		})
	if !errors.Is(err, context.Canceled) || emitted > 0 || worked > 1 {
		t.Errorf("%d results, %d documents, then %v", emitted, worked, err)
	}
}

// TestFit reads a long document among short ones with different memory limits. With little memory the document is
// skipped and named, and the run stays within the limit.
func TestFit(t *testing.T) {
	in := strings.Repeat(`{"text":"short"}`+"\n", 3) + `{"text":"` + strings.Repeat("long ", 1<<20) + `"}` + "\n" + `{"text":"last"}`
	for bytes, want := range map[uint64]int{1 << 40: 5, 64 << 20: 5, 10 << 20: 4, 1 << 10: 4} {
		cfg := ingest.Config{Document: format.Options{Format: format.JSONL}, Stdin: strings.NewReader(in)}.Fit(bytes)
		if need := cfg.NeedBytes(); need > max(bytes, 3<<20) {
			t.Errorf("%d bytes: it needs %d", bytes, need)
		}
		var skips []string
		cfg.Skipped = func(s *input.Skip) error { skips = append(skips, s.Error()); return nil }
		report, err := ingest.Run(t.Context(), []string{input.Stdin}, cfg, func(ingest.Record) error { return nil })
		if err != nil || report.Documents != want || report.Skipped.Lost() != 5-want {
			t.Errorf("%d bytes: %d documents, want %d: %v %v", bytes, report.Documents, want, skips, err)
		}
		if want < 5 && !strings.Contains(fmt.Sprint(skips), "-:4: too large: more than") {
			t.Errorf("%d bytes: %q", bytes, skips)
		}
	}
}

// TestBudget reads documents that together exceed the budget of the run. All must be returned, in order.
func TestBudget(t *testing.T) {
	const n, longest = 150, 350_000
	var in bytes.Buffer
	for i := range n {
		// 30 bytes to 300 KB, mixed.
		text := strings.Repeat(fmt.Sprintf("the %d words of text %d. ", i, i), 1+i*i*i%97*i%97*130)
		fmt.Fprintf(&in, "{\"id\":%d,\"text\":%q}\n", i, text)
	}
	if in.Len() < 20*longest {
		t.Fatalf("%d bytes are no test of a budget of %d", in.Len(), 2*longest)
	}
	for _, threads := range []int{1, 4} {
		next := 0
		cfg := ingest.Config{Stdin: bytes.NewReader(in.Bytes()), Threads: threads, Budget: 1,
			Document: format.Options{MaxDocumentBytes: longest}}
		_, err := ingest.Run(t.Context(), []string{input.Stdin}, cfg, func(r ingest.Record) error {
			if r.ID != fmt.Sprint(next) {
				return fmt.Errorf("record %s where %d was due", r.ID, next)
			}
			next++
			return nil
		})
		if err != nil || next != n {
			t.Errorf("%d threads: %d records, then %v", threads, next, err)
		}
	}
}
