package work

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

func noStream(string) (io.ReadCloser, string, error) { return nil, "", nil }

// collect returns the result of a run with a work.
func collect(t *testing.T, in string, share *input.Share, w ingest.Work, job string) (r read, err error) {
	t.Helper()
	cfg := ingest.Config{Threads: 2, Document: format.Options{IDField: "name", ValueFields: [][]string{{"date"}}, Share: share},
		Work: w, Job: job, Skipped: func(s *input.Skip) error {
			r.skips = append(r.skips, s.Error()+fmt.Sprint(s.Offset, s.End, s.Rows, s.ResumedAt))
			return nil
		}}
	r.report, err = ingest.Run(t.Context(), []string{in}, cfg, func(rec ingest.Record) error {
		r.records = append(r.records, rec)
		return nil
	})
	return r, err
}

// TestShares: a run over the shares of some inputs equals a run over the inputs, also when these are gone. Share files
// that do not belong together are errors.
func TestShares(t *testing.T) {
	in, out := inputs(t), t.TempDir()
	must.Do(t, os.Remove(filepath.Join(in, ".hidden"))) // skipped without being read, so no share has it
	want, err := collect(t, in, nil, nil, "")
	must.Do(t, err)
	write := func(name string, i, of int, job string) string {
		share, err := input.NewShare(t.Context(), []string{in}, i, of)
		must.Do(t, err)
		path := filepath.Join(out, name)
		w, err := CreateShare(nil, path, share)
		must.Do(t, err)
		defer w.Abort()
		_, err = collect(t, in, share, w, job)
		must.Do(t, err)
		must.Do(t, w.Commit())
		return path
	}
	var paths []string
	for i := range 3 {
		paths = append(paths, write(fmt.Sprint(i), i, 3, "x"))
	}
	other, four := write("other", 1, 3, "y"), write("four", 1, 4, "x")
	must.Do(t, os.RemoveAll(in))
	slices.Reverse(paths)
	s, list, err := OpenShares(t.Context(), nil, paths, 2, noStream)
	must.Do(t, err)
	defer s.Close()
	got, err := collect(t, in, list, s, "x")
	must.Do(t, err)
	requireSame(t, got, want)
	if _, err := collect(t, in, list, s, "z"); !errors.Is(err, simhash.ErrMixed) || !strings.Contains(err.Error(), `has "x", and this command asks for "z"`) {
		t.Errorf("another job: %v", err)
	}
	for _, c := range []struct {
		paths []string
		want  string
	}{{paths[1:], "share 2/3 of the same files is missing"}, {append(slices.Clone(paths), paths[0]), "are both share 2/3"},
		{[]string{paths[0], other, paths[2]}, `job is "x" and "y"`}, {[]string{paths[0], four, paths[2]}, "shares of different files"}} {
		if _, _, err := OpenShares(t.Context(), nil, c.paths, 2, noStream); !errors.Is(err, simhash.ErrMixed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestHostileShare: a share file that contradicts itself is an error that names it, and neither a panic nor a large
// allocation.
func TestHostileShare(t *testing.T) {
	in, path := inputs(t), filepath.Join(t.TempDir(), "share")
	share, err := input.NewShare(t.Context(), []string{in}, 0, 1)
	must.Do(t, err)
	w, err := CreateShare(nil, path, share)
	must.Do(t, err)
	_, err = collect(t, in, share, w, "")
	must.Do(t, err)
	must.Do(t, w.Commit())
	hostile.Each(hostile.Sections(t, path, store.KindShare), 300, 5, func(changed []store.Section) {
		data := hostile.Bytes(store.KindShare, store.Identity{}, changed)
		stream := func(string) (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader(string(data))), "hostile.units", nil
		}
		s, list, err := OpenShares(t.Context(), nil, []string{"share"}, 1, stream)
		if err == nil {
			_, err = collect(t, in, list, s, "")
			s.Close()
		}
		if err != nil && !errors.Is(err, simhash.ErrMixed) {
			hostile.Expect(t, "share", err)
		}
	})
}
