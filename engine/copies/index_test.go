package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/copies/postings"
	"ndd/engine/copies/spotsigs"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// corpus returns texts of which many have much in common, in both kinds of languages, and some are
// short or empty.
func corpus(random *rand.Rand, n int) (texts []string) {
	for i := range n {
		write := english
		if random.IntN(2) == 0 {
			write = chinese
		}
		text := write(random, random.IntN(20))
		if i > 0 && random.IntN(2) == 0 {
			other := texts[random.IntN(i)]
			from := random.IntN(len(other)/2 + 1)
			text = other[from:] + text // may begin within a character
		}
		texts = append(texts, text)
	}
	return texts
}

func id(i int) string { return fmt.Sprintf("page-%d", i) }

// siteOf puts two documents of three on one of four sites.
func siteOf(i int) uint64 {
	if i%3 == 0 {
		return 0
	}
	return SiteOf(fmt.Sprintf("site-%d", i%4))
}

// TestIndexAnswersAsDetector: what is found in an index of three segments is what all pairs have of
// the same documents, by every method, with bags and without, and with the pairs of one site left
// out.
func TestIndexAnswersAsDetector(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	texts := corpus(random, 240)
	const stored = 200
	for n, o := range []Options{{}, {Method: SpotSigs, SpotSigs: spotsigs.Options{Lists: spotsigs.Paper}},
		{Method: CCDet, Threshold: 0.3}, {Method: Winnow, MinFeatures: 2},
		{Bags: true, OtherSites: true}, {Version: 3}} {
		o.Join.MaxEqual = 1000
		o.Room = postings.Room{Bytes: 1 << 12, Dir: t.TempDir()} // through files
		x, err := OpenIndex(context.Background(), create(t, o, texts[:stored], 75), 2)
		must.Do(t, err)
		if err := x.Check(context.Background()); err != nil || x.Documents() != stored || len(x.segments) != 3 {
			t.Fatal(err, x.Documents())
		}
		searcher, err := x.Searcher(o)
		must.Do(t, err)
		signer, signed := newSigner(t, o), make([]Sets, len(texts))
		for i, text := range texts {
			signed[i] = signer.Sign(text)
			signed[i].Site = siteOf(i)
		}
		total := 0
		for q := stored; q < len(texts); q++ {
			sets := signed[q]
			hits, err := searcher.Search(context.Background(), &sets)
			must.Do(t, err)
			best, all, err := searcher.Best(context.Background(), &sets, 2)
			if err != nil || all != len(hits) || len(best) != min(2, all) || slices.ContainsFunc(hits,
				func(h Hit) bool { return all > 0 && h.Score > best[0].Score }) {
				t.Fatalf("the best two of %v are %v, %v", hits, best, err)
			}
			var got, want []string
			for _, h := range hits {
				got = append(got, fmt.Sprint(h.ID, h.Relation, h.Method, h.Score, h.SizeA, h.SizeB, h.Shared))
			}
			d := NewDetector(o)
			for _, s := range append(signed[:stored:stored], sets) {
				d.Add(s)
			}
			pairs, _, err := d.Pairs(context.Background())
			must.Do(t, err)
			for _, p := range pairs {
				if p.B == stored { // the pair the other way round
					r, ok := map[Relation]Relation{Contains: Contained, Contained: Contains}[p.Relation]
					if !ok {
						r = p.Relation
					}
					want = append(want, fmt.Sprint(id(int(p.A)), r, p.Method, p.Score, p.SizeB, p.SizeA, p.Shared))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("options %d, document %d:\n%s\nwant\n%s", n, q, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			total += len(got)
		}
		if total == 0 {
			t.Errorf("options %d: nothing is found", n)
		}
		must.Do(t, x.Close())
	}
}

// TestIndexOfNothing: an index of no documents, and of such as have no signatures, answers that
// there is nothing.
func TestIndexOfNothing(t *testing.T) {
	for _, texts := range [][]string{nil, {"", "short"}} {
		dir := create(t, Options{}, texts, 1000)
		x := openIndexAt(t, dir)
		s, err := x.Searcher(Options{})
		must.Do(t, err)
		signer := newSigner(t, Options{})
		for _, text := range []string{"", "short", english(rand.New(rand.NewPCG(1, 1)), 5)} {
			sets := signer.Sign(text)
			if hits, err := s.Search(context.Background(),
				&sets); err != nil || len(hits) != 0 || s.Compared(&sets) != (len(text) > 10) {
				t.Errorf("%d documents, %q: %v, %v", len(texts), text, hits, err)
			}
		}
		must.Do(t, x.Check(context.Background()))
	}
}

// TestIndexRefuses: other recipes, damage, lost files, and two writers.
func TestIndexRefuses(t *testing.T) {
	dir := create(t, Options{}, corpus(rand.New(rand.NewPCG(5, 6)), 30), 1000)
	if _, err := CreateIndex(dir, Options{}, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an index: %v", err)
	}
	for _, o := range []Options{{Method: Winnow}, {Bags: true}, {MinFeatures: 4}, {Ends: "。"},
		{SpotSigs: spotsigs.Options{Chain: 3}},
		{SpotSigs: spotsigs.Options{Lists: spotsigs.Paper}}, {SpotSigs: spotsigs.Options{Lists: spotsigs.FromHashes("wide",
			[]uint64{1}, nil)}}} {
		if _, err := AppendIndex(context.Background(), dir, o); !errors.Is(err, ErrMixed) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	first, err := AppendIndex(context.Background(), dir, Options{})
	must.Do(t, err)
	if _, err := AppendIndex(context.Background(), dir, Options{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	must.Do(t, first.Abort())
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 3 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := OpenIndex(context.Background(), t.TempDir(), 1); !errors.Is(err,
		fs.ErrNotExist) || IsIndex(t.TempDir()) || !IsIndex(dir) {
		t.Errorf("no index: %v", err)
	}
	path := filepath.Join(dir, "00000001.postings")
	good, err := os.ReadFile(path)
	must.Do(t, err)
	for at := 0; at < len(good); at += 1 + len(good)/300 {
		bad := slices.Clone(good)
		bad[at] ^= 4
		must.Do(t, os.WriteFile(path, bad, 0o644))
		if x, err := OpenIndex(context.Background(), dir, 1); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("byte %d changed: %v, %v", at, x, err)
		}
	}
	must.Do(t, os.Remove(path))
	if _, err := OpenIndex(context.Background(), dir, 1); !errors.Is(err,
		store.ErrCorrupt) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a lost file: %v", err)
	}
}

// TestThresholdOfChains: an index whose recipe has chains of 3 is searched with the threshold that
// belongs to them, unless one is given, and so are all pairs.
func TestThresholdOfChains(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want float64
	}{{Options{}, 0.5}, {Options{SpotSigs: spotsigs.Options{Chain: 3}},
		0.45}, {Options{SpotSigs: spotsigs.Options{Lists: spotsigs.Paper}}, 0.45},
		{Options{SpotSigs: spotsigs.Options{Lists: spotsigs.Paper, Chain: 2}},
			0.5}, {Options{SpotSigs: spotsigs.Options{Chain: 3}, Threshold: 0.7}, 0.7}} {
		d := NewDetector(c.o)
		if got := d.o.join(SpotSigs).Threshold; got != c.want {
			t.Errorf("all pairs, %+v: %g, want %g", c.o, got, c.want)
		}
		dir := create(t, c.o, []string{"one text"}, 1000)
		x := openIndexAt(t, dir)
		s, err := x.Searcher(Options{Threshold: c.o.Threshold})
		must.Do(t, err)
		if got := s.methods[SpotSigs].o.Threshold; got != c.want {
			t.Errorf("index, %+v: %g, want %g", c.o, got, c.want)
		}
		must.Do(t, s.Configure(0, false))
		if got, want := s.methods[SpotSigs].o.Threshold, map[bool]float64{true: 0.45,
			false: 0.5}[s.o.SpotSigs.Chain == 3]; got != want {
			t.Errorf("configured, %+v: %g, want %g", c.o, got, want)
		}
	}
}
