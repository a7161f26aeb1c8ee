package plan

import (
	"math"
	"strings"
	"testing"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// tried is a plan for prints that was tried on so many of them.
func tried(t *testing.T, prints []uint64, sample int, memory uint64) *Plan {
	t.Helper()
	p, err := New(t.Context(), Request{Fingerprints: uint64(len(prints)), K: 3, Memory: memory, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RunTrials(t.Context(), prints[:sample], 2); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTrials: what is predicted of all after a trial is what an index of all takes;
// the choice is planar for uniform fingerprints, whatever the machine, unless all
// of planar's trials were disturbed, time after time; and the reason names both layouts.
func TestTrials(t *testing.T) {
	prints := sets.Uniform(100_000, 1)
	p := tried(t, prints, 20_000, 0)
	for again := 1; again < 10 && p.Choice.Layout != table.LayoutPlanar; again++ {
		t.Logf("%+v", p.Trials)
		p = tried(t, prints, 20_000, 0)
	}
	if p.Choice.Layout != table.LayoutPlanar || len(p.Trials) != 2 || p.TrialSample < 19_000 || p.TrialSample >= 20_000 {
		t.Fatalf("%+v, tried %d", p.Trials, p.TrialSample)
	}
	if why := p.Why[1]; !strings.HasPrefix(why, "Measured on a sample of 19,") || !strings.Contains(why, "planar (") || !strings.Contains(why, "; huffman (") {
		t.Error(why)
	}
	for _, r := range p.Trials {
		if got := bytesEach(t, p, r, prints); math.Abs(r.Bytes/got-1) > 0.03 {
			t.Errorf("%s, %s: %.2f bytes predicted, %.2f taken", r.Layout, r.Design, r.Bytes, got)
		}
		if !(r.SampleOnlineNS > 0 && r.SampleBatchNS > 0 && r.OnlineNS > 0 && r.BatchNS > 0) {
			t.Errorf("no time: %+v", r)
		}
	}
	for i := 1; i < len(p.Options); i++ {
		if p.Options[i].Bytes < p.Options[i-1].Bytes {
			t.Error("options are not in order of their bytes")
		}
	}
}

// bytesEach is what a layout takes for all prints.
func bytesEach(t *testing.T, p *Plan, r Trial, prints []uint64) float64 {
	t.Helper()
	for _, o := range p.Options {
		if o.Name != r.Design || o.Layout != r.Layout {
			continue
		}
		var m store.Memory
		options := segment.Options{Design: o.Design, Table: table.Options{Layout: o.Layout}}
		if err := segment.Write(t.Context(), &m, segment.Input{Fingerprints: prints}, options); err != nil {
			t.Fatal(err)
		}
		s, err := segment.Open(m.Source())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		bytes := uint64(0)
		for _, tab := range s.Tables() {
			bytes += table.Bytes(tab)
		}
		return float64(bytes) / float64(s.Fingerprints())
	}
	t.Fatalf("no option %s, %s", r.Design, r.Layout)
	return 0
}

// TestTrialsOfShapes: sets of every shape, tiny ones too, are tried without an error,
// and what is chosen fits.
func TestTrialsOfShapes(t *testing.T) {
	for _, set := range append(sets.All(5000, 0, 3, 1), sets.All(3, 0, 3, 1)...) {
		if len(set.Base) == 0 {
			continue
		}
		p := tried(t, set.Base, len(set.Base), 1<<30)
		if !p.Choice.Fits || len(p.Why) < 3 {
			t.Errorf("%s: %+v", set.Name, p.Choice)
		}
	}
}

// TestTrialsOfOneLayout has nothing to find out.
func TestTrialsOfOneLayout(t *testing.T) {
	p, err := New(t.Context(), Request{Fingerprints: 1000, K: 3, Layout: table.LayoutHuffman, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RunTrials(t.Context(), []uint64{1, 2, 3}, 1); err != nil || p.Trials != nil || p.TrialSample != 0 {
		t.Errorf("%v, %+v", err, p.Trials)
	}
	if err := p.RunTrials(t.Context(), nil, 1); err != nil {
		t.Error(err)
	}
}
