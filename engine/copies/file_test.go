package copies

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/copies/spotsigs"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// corpus returns texts in both kinds of languages. Many have much in common, and some are short or empty.
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

func newSigner(t testing.TB, o Options) *Signer {
	t.Helper()
	s, err := NewSigner(t.Context(), o)
	must.Do(t, err)
	return s
}

// signFile writes the signatures of texts, whose numbers begin with first, to a file and returns its path.
func signFile(t testing.TB, o Options, texts []string, first int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "library.sigs")
	w, err := Create(path, o, store.Options{})
	must.Do(t, err)
	s := newSigner(t, o)
	for i, text := range texts {
		_, err := w.Add(id(first+i), s.Sign(text))
		must.Do(t, err)
	}
	must.Do(t, w.Commit())
	must.Do(t, w.Abort()) // nothing after Commit
	return path
}

func openFile(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(t.Context(), path, 2)
	must.Do(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestFilesAnswerAsDetector compares documents with two signature files. The pairs equal those of a Detector with all
// documents, restricted to pairs of a document in a file and another one. It tests every method and bags.
func TestFilesAnswerAsDetector(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	texts := corpus(random, 240)
	for i := range 30 { // equal documents in the files, and among the new ones
		texts[random.IntN(len(texts))] = texts[i]
	}
	const stored = 200
	for n, o := range []Options{{}, {Method: SpotSigs, SpotSigs: spotsigs.Options{Lists: spotsigs.Paper}},
		{Method: CCDet, Threshold: 0.3}, {Method: Winnow, MinFeatures: 2}, {Bags: true}} {
		o.Room = postings.Room{Bytes: 1 << 12, Dir: t.TempDir()} // through files
		all, split := NewDetector(o), NewDetector(o)
		for _, path := range []string{signFile(t, o, texts[:120], 0), signFile(t, o, texts[120:stored], 120)} {
			f := openFile(t, path)
			must.Do(t, f.Check())
			must.Do(t, split.AddFile(f))
		}
		split.MarkKnown()
		signer := newSigner(t, o)
		for i, text := range texts {
			sets := signer.Sign(text)
			all.Add(sets)
			if i >= stored {
				split.Add(sets)
			}
		}
		want, _, err := all.Pairs(t.Context())
		must.Do(t, err)
		want = slices.DeleteFunc(want, func(p Pair) bool { return p.A >= stored || p.B < stored })
		got, report, err := split.Pairs(t.Context())
		must.Do(t, err)
		if !slices.Equal(got, want) || report.Pairs != len(want) || len(want) == 0 {
			t.Fatalf("options %d: %d pairs, want %d:\n%v\n%v", n, len(got), len(want), got, want)
		}
	}
}

// TestNothingKnown checks that files without documents or without signatures have no pairs. New documents have no pairs
// with each other.
func TestNothingKnown(t *testing.T) {
	text := english(rand.New(rand.NewPCG(1, 1)), 15)
	for _, known := range [][]string{nil, {"", "short"}} {
		d := NewDetector(Options{})
		must.Do(t, d.AddFile(openFile(t, signFile(t, Options{}, known, 0))))
		d.MarkKnown()
		signer := newSigner(t, Options{})
		for range 2 {
			d.Add(signer.Sign(text))
		}
		if pairs, _, err := d.Pairs(t.Context()); err != nil || len(pairs) != 0 {
			t.Errorf("%d known documents: %v, %v", len(known), pairs, err)
		}
	}
}

// TestSwapped checks that a pair that is swapped is the pair of the documents in the other order.
func TestSwapped(t *testing.T) {
	p := Pair{postings.Pair{A: 1, B: 2, SizeA: 9, SizeB: 3, Shared: 3}, Contains, FewB | Equal, Winnow, 0.7, 4, 5}
	want := Pair{postings.Pair{A: 2, B: 1, SizeA: 3, SizeB: 9, Shared: 3}, Contained, FewA | Equal, Winnow, 0.7, 5, 4}
	if p.Swapped() != want || want.Swapped() != p {
		t.Errorf("%+v, %+v", p.Swapped(), want.Swapped())
	}
}

// TestFileRefuses checks that damage of any byte is found; signatures of another recipe are named.
func TestFileRefuses(t *testing.T) {
	path := signFile(t, Options{}, corpus(rand.New(rand.NewPCG(5, 6)), 30), 0)
	mine := Options{}.Recipe()
	for _, o := range []Options{{Method: Winnow}, {Bags: true}, {MinFeatures: 4}, {Ends: "。"},
		{SpotSigs: spotsigs.Options{Chain: 3}}, {SpotSigs: spotsigs.Options{Lists: spotsigs.Paper}},
		{SpotSigs: spotsigs.Options{Lists: spotsigs.FromHashes("wide", []uint64{1}, nil)}}} {
		if err := mine.Compatible("documents", o.Recipe(), "a file"); !errors.Is(err, ErrMixed) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	good := must.Read(t, path)
	for offset := 0; offset < len(good); offset += 1 + len(good)/300 {
		bad := slices.Clone(good)
		bad[offset] ^= 4
		must.Do(t, os.WriteFile(path, bad, 0o644))
		if f, err := Open(t.Context(), path, 1); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("byte %d changed: %v, %v", offset, f, err)
		}
	}
}

// TestHostileFile changes sections and repairs the checksums. Reading returns an error with the place, or all
// documents. It takes no more memory than the size of the file.
func TestHostileFile(t *testing.T) {
	const block = 32 << 20 // memory for a block of IDs: a frame of a few bytes may validly unpack to that
	path := signFile(t, Options{}, append(corpus(rand.New(rand.NewPCG(5, 6)), 12), ""), 0)
	read := 0
	hostile.Each(hostile.Sections(t, path, store.KindSignatures), 400, 1, func(list []store.Section) {
		container := hostile.File(t, store.KindSignatures, list)
		var f *File
		var err error
		hostile.Allocates(t, hostile.Limit(container.Bytes())+block, func() {
			if f, err = fileOf(container); err == nil {
				err = f.Check()
			}
		})
		if err != nil {
			hostile.Expect(t, "signature file", err)
			return
		}
		documents := uint64(0)
		for s := range f.All() {
			documents++
			for _, set := range [][]uint64{s.Own, s.Winnow, s.Shingles} {
				if !slices.IsSorted(set) {
					t.Errorf("set %x", set)
				}
			}
		}
		if documents != f.Documents() {
			t.Errorf("%d of %d documents", documents, f.Documents())
		}
		read++
		must.Do(t, f.Close())
	})
	if read == 0 {
		t.Error("no file was read")
	}
}

// TestThresholdOfChains checks that a recipe of chains of 3 has the threshold that belongs to them, unless one is
// given.
func TestThresholdOfChains(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want float64
	}{{Options{}, 0.5}, {Options{SpotSigs: spotsigs.Options{Chain: 3}}, 0.45},
		{Options{SpotSigs: spotsigs.Options{Lists: spotsigs.Paper}}, 0.45},
		{Options{SpotSigs: spotsigs.Options{Lists: spotsigs.Paper, Chain: 2}}, 0.5},
		{Options{SpotSigs: spotsigs.Options{Chain: 3}, Threshold: 0.7}, 0.7}} {
		f := openFile(t, signFile(t, c.o, []string{"one text"}, 0))
		result, err := f.Recipe().Options()
		must.Do(t, err)
		result.Threshold = c.o.Threshold
		for _, o := range []Options{c.o, result} {
			if got := NewDetector(o).o.JoinOptions(SpotSigs).Threshold; got != c.want {
				t.Errorf("%+v: %g, want %g", o, got, c.want)
			}
		}
	}
}
