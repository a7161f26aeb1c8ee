package plan

import (
	"math"
	"slices"
	"testing"

	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/huffman"
	"example.org/ndd/permute"
)

// uniformKeys returns n sorted distinct random keys.
func uniformKeys(n int, seed uint64) []uint64 { return distinctOf(sets.Uniform(n, seed)) }

func distinctOf(fingerprints []uint64) []uint64 {
	return slices.Compact(slices.Sorted(slices.Values(fingerprints)))
}

// TestBytes compares the predicted sizes with built tables: exactly for the planar layout, within half a per cent for
// the huffman layout.
func TestBytes(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 1000, 4095, 4097, 100_000, 500_000, 1 << 20} {
		keys := uniformKeys(n, 1)
		for _, md := range models {
			var memory sections.Memory
			must.Do(t, table.Write(&memory, "", keys, table.Options{Layout: md.layout()}))
			built, err := table.Open(memory.Source(), "", md.layout())
			must.Do(t, err)
			got := make(map[string]uint64)
			for _, p := range built.Parts() {
				got[p.Name] += p.Bytes
			}
			for _, p := range md.parts(float64(n), uniformEntry(float64(n))) {
				tolerance := 0.0
				if md.layout() == table.LayoutHuffman {
					tolerance = 0.005*float64(got[p.Name]) + huffman.BlockBytesDefault
				}
				if diff := math.Abs(float64(p.Bytes) - float64(got[p.Name])); diff > tolerance {
					t.Errorf("%s, %d keys, %s: %d bytes predicted, %d built", md.layout(), n, p.Name, p.Bytes, got[p.Name])
				}
				delete(got, p.Name)
			}
			for name, bytes := range got {
				if name == "wide" && bytes < uint64(n)/1000 {
					continue
				}
				if bytes > 0 {
					t.Errorf("%s, %d keys: %d bytes of %s, which nobody predicted", md.layout(), n, bytes, name)
				}
			}
		}
	}
}

// TestPositions compares the expected positions with counted ones.
func TestPositions(t *testing.T) {
	sizes := []int{2, 1000, 300_000}
	if !long.Form() {
		sizes[2] = 30_000
	}
	for _, n := range sizes {
		var counts [huffman.Positions]float64
		const sets = 20
		for seed := range uint64(sets) {
			var c [huffman.Positions]uint64
			huffman.Count(&c, uniformKeys(n, seed))
			for h := range c {
				counts[h] += float64(c[h])
			}
		}
		total := 0.0
		for h, expected := range positions(float64(n)) {
			total += expected
			// Five standard deviations of a Poisson count, and one.
			if diff := math.Abs(counts[h] - sets*expected); n > 2 && diff > 5*math.Sqrt(sets*expected)+1 {
				t.Errorf("%d keys, position %d: %.1f expected, %.1f counted", n, h, sets*expected, counts[h])
			}
		}
		if want := float64(n) - 1; n > 2 && math.Abs(total-want) > 1e-3*want {
			t.Errorf("%d keys: %.1f positions in all, want %.1f", n, total, want)
		}
	}
}

// TestBound checks that no table is predicted to be smaller than the lower bound for exact tables.
func TestBound(t *testing.T) {
	for n := uint64(1); n < 1<<40; n *= 3 {
		for _, md := range models {
			if built := table.Sum(md.parts(float64(n), uniformEntry(float64(n)))); n > 100 && built < boundBytes(n) {
				t.Errorf("%s, %d keys: %d bytes, less than the bound of %d", md.layout(), n, built, boundBytes(n))
			}
		}
	}
}

// TestRowBytes compares the predicted bytes of ids with segments, with repetitions and without. It also compares a plan
// with one that counts every document as a fingerprint.
func TestRowBytes(t *testing.T) {
	design, err := permute.ByName("halves", 3, 1)
	must.Do(t, err)
	for _, repeated := range []int{1, 2, 10, 5000} {
		fingerprints := sets.Uniform(5000, 9)
		if repeated == 2 {
			fingerprints = sets.Uniform(70_000, 9) // documents whose rows are in blocks
		}
		for i := range fingerprints {
			fingerprints[i] = fingerprints[i/repeated*repeated]
		}
		var m sections.Memory
		must.Do(t, segment.Write(t.Context(), &m, segment.Input{Fingerprints: fingerprints}, segment.Options{Design: design}))
		built := 0
		for _, name := range []string{"ids.ordinals", "ids.firsts", "ids.samples"} {
			if s, err := m.Source().Section(name); err == nil {
				built += len(s.Data)
			}
		}
		r := Request{Fingerprints: uint64(len(fingerprints) / repeated), Documents: uint64(len(fingerprints))}
		if got := r.rowBytes(); got != uint64(built) {
			t.Errorf("each %d times: %d bytes of ids, %d built", repeated, got, built)
		}
	}
}

// TestDocumentsBeyondFingerprints plans for ten documents per fingerprint: tables store distinct fingerprints, and IDs
// are stored for all documents.
func TestDocumentsBeyondFingerprints(t *testing.T) {
	r := Request{Fingerprints: 1e6, Documents: 1e7, K: 3, IDs: IDsRows, Seed: 1}
	few, err := New(t.Context(), r)
	must.Do(t, err)
	r.Fingerprints, r.Documents = 1e7, 0
	all, err := New(t.Context(), r)
	must.Do(t, err)
	for i := range few.Options {
		o := &few.Options[i]
		if o.TableBytes > all.Options[i].TableBytes/7 || o.IDBytes < all.Options[i].IDBytes ||
			o.IDBytes > all.Options[i].IDBytes*21/20 {
			t.Errorf("%s: %d bytes of tables and %d of ids, for all documents %d and %d", o.Name, o.TableBytes, o.IDBytes,
				all.Options[i].TableBytes, all.Options[i].IDBytes)
		}
	}
	r.Fingerprints, r.Documents = 10, 9
	if _, err := New(t.Context(), r); err == nil {
		t.Error("fewer documents than fingerprints are taken")
	}
}

// TestWideLines compares the bytes of planar tables of skewed sets with the prediction of a plan with a sample,
// including wide lines: within 4 per cent.
func TestWideLines(t *testing.T) {
	n := long.Or(60_000, 300_000)
	for _, set := range sets.Skewed(n, 7) {
		fingerprints := distinctOf(set.Base)
		var d distribution.Distinct
		d.Add(fingerprints)
		sample, err := NewSample(d.Sample(), SampleSize, 1)
		if err != nil {
			continue // too few distinct ones
		}
		for _, name := range []string{"halves", "thirds"} {
			design, err := permute.ByName(name, 3, 1)
			must.Do(t, err)
			r := Request{Fingerprints: uint64(len(fingerprints)), K: 3, Layout: table.LayoutPlanar,
				Designs: []permute.Design{design}, Sample: sample, Seed: 1}
			p, err := New(t.Context(), r)
			must.Do(t, err)
			built, wide := uint64(0), uint64(0)
			for _, tab := range inMemory(t, fingerprints, p.Choice).Tables() {
				for _, part := range tab.Parts() {
					if built += part.Bytes; part.Name == "wide" {
						wide += part.Bytes
					}
				}
			}
			reported := p.Choice.TableBytes
			t.Logf("%s, %s: %d bytes said, %d built, %d of them for wide lines", set.Name, name, reported, built, wide)
			if float64(reported) < 0.96*float64(built) || float64(reported) > 1.04*float64(built) {
				t.Errorf("%s, %s: %d bytes said, %d built, %d of them for wide lines", set.Name, name, reported, built, wide)
			}
		}
	}
}
