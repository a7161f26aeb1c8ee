package plan

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/permute"
)

var update = flag.Bool("update", false, "write golden files anew")

// words returns a plan as a text.
func words(p *Plan) string {
	var b strings.Builder
	r := &p.Request
	fmt.Fprintf(&b, "n = %d, k = %d, memory %d, ids %s, for %s\n", r.Fingerprints, r.K, r.Memory, r.IDs, r.Purpose)
	for _, o := range p.Options {
		mark := " "
		if o.Frontier {
			mark = "*"
		}
		if o.Name == p.Choice.Name && o.Layout == p.Choice.Layout {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %-22s %-7s %2d tables, %v leading, radius %v, %6s probes, %8s candidates, %7s, %7s, %7s, "+
			"fits %v\n",
			mark, o.Name, o.Layout, o.Tables, o.Leading, o.Radius, Count(o.Probes, ""), Count(o.Candidates, ""),
			Size(o.Bytes), Duration(o.OnlineNS), Duration(o.BatchNS), o.Fits)
	}
	for _, s := range p.Reasons {
		fmt.Fprintln(&b, s)
	}
	return b.String()
}

// TestGolden compares plans for every k and several memory limits, by the reference costs. A change of the model
// changes them.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, r := range []Request{
		{Fingerprints: 8e9, K: 3, Memory: 128 << 30},
		{Fingerprints: 8e9, K: 3, Memory: 40e9},
		{Fingerprints: 8e9, K: 3, Memory: 400e9, Purpose: Batch},
		{Fingerprints: 1e8, K: 3},
		{Fingerprints: 1e8, K: 3, Memory: 2 << 30, IDs: IDsRows},
		{Fingerprints: 1e6, K: 0},
		{Fingerprints: 1e7, K: 1},
		{Fingerprints: 1e9, K: 2, Layout: table.LayoutHuffman},
		{Fingerprints: 1e9, K: 4},
		{Fingerprints: 1e9, K: 5},
		{Fingerprints: 1e9, K: 6},
		{Fingerprints: 1e9, K: 7},
		{Fingerprints: 1e9, K: 8},
		{Fingerprints: 1e8, K: 3, Tables: 10},
		{Fingerprints: 1, K: 3},
		{Fingerprints: 0, K: 3},
	} {
		r.Seed = 1
		p, err := New(t.Context(), r)
		must.Do(t, err)
		fmt.Fprintln(&b, words(p))
	}
	path := filepath.Join("testdata", "plans.golden")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	must.Do(t, err)
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestNoRoom checks that the error for too little memory gives the minimum.
func TestNoRoom(t *testing.T) {
	r := Request{Fingerprints: 8e9, K: 3, Memory: 20 << 30, Seed: 1}
	for _, c := range []struct {
		memory uint64
		tables int
		ids    IDs
		want   string
	}{
		{20 << 30, 0, IDsNone, "nothing exact could, since their entropy is 30.3 GiB (32.55 bits each); the smallest is 31."},
		{31 << 30, 0, IDsNone, "do not fit in 31 GiB; the smallest is 31."},
		{37 << 30, 0, IDsRows, "their entropy is 30.3 GiB (32.55 bits each) and their document numbers 30.7 GiB; the smallest is 62."},
		{56 << 30, 2, IDsNone, "do not fit in 56 GiB; the smallest of 2 tables is 63."},
	} {
		r.Memory, r.Tables, r.IDs = c.memory, c.tables, c.ids
		_, err := New(t.Context(), r)
		full, ok := errors.AsType[*NoRoomError](err)
		if !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		// The minimum is exact: one byte less is too little.
		r.Memory = full.Smallest.Bytes
		if p, err := New(t.Context(), r); err != nil || p.Choice.Bytes > r.Memory {
			t.Errorf("%+v: %v with %d bytes", c, err, r.Memory)
		}
		if r.Memory--; r.Memory > 0 {
			if _, err := New(t.Context(), r); err == nil {
				t.Errorf("%+v: fits in a byte less than the least", c)
			}
		}
	}
}

func TestWrongRequests(t *testing.T) {
	for _, r := range []Request{
		{Fingerprints: 1000, K: 9}, {Fingerprints: 1000, K: -1}, {Fingerprints: FingerprintsMax + 1, K: 3},
		{Fingerprints: 1000, K: 3, Tables: -1}, {Fingerprints: 1000, K: 3, IDs: "some"},
		{Fingerprints: 1000, K: 3, Purpose: "sport"}, {Fingerprints: 1000, K: 3, Layout: "round"},
		{Fingerprints: 1000, K: 3, Tables: 9},
	} {
		_, err := New(t.Context(), r)
		if _, full := errors.AsType[*NoRoomError](err); err == nil || full {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// TestFrontier checks the marks against their definition, and the choice against all options that fit.
func TestFrontier(t *testing.T) {
	for k := 0; k <= permute.MaxK; k++ {
		for _, n := range []uint64{1000, 1e6, 1e8, 8e9} {
			for _, purpose := range []Purpose{Online, Batch} {
				memory := 12 * n
				p, err := New(t.Context(), Request{Fingerprints: n, K: k, Memory: memory, Purpose: purpose, Seed: 1})
				must.Do(t, err)
				marked := 0
				for i, a := range p.Options {
					better := false
					for j, b := range p.Options {
						near := b.OnlineNS < errorRatio*a.OnlineNS && b.BatchNS < errorRatio*a.BatchNS
						better = better || i != j && b.Frontier && float64(b.Bytes) <= 1.03*float64(a.Bytes) && near
						if a.Frontier && b.Frontier && j < i && near && a.Name != p.Choice.Name {
							t.Errorf("k = %d, n = %d: %s is marked, but the smaller %s is nearly as fast", k, n, a.Name, b.Name)
						}
					}
					if a.Frontier {
						marked++
					} else if !better {
						t.Errorf("k = %d, n = %d: %s (%s) is not marked, but nothing marked is smaller and nearly as fast", k, n, a.Name, a.Layout)
					}
					if a.Fits != (a.Bytes <= memory) {
						t.Errorf("%s: fits is %v", a.Name, a.Fits)
					}
					if a.Fits && 1.25*a.nanoseconds(purpose) < 0.999*p.Choice.nanoseconds(purpose) {
						t.Errorf("k = %d, n = %d: the choice %s takes %s, %s only %s", k, n, p.Choice.Name,
							Duration(p.Choice.nanoseconds(purpose)), a.Name, Duration(a.nanoseconds(purpose)))
					}
				}
				if marked == 0 || p.Choice.Bytes > memory {
					t.Errorf("k = %d, n = %d: %d marked, choice %d bytes", k, n, marked, p.Choice.Bytes)
				}
			}
		}
	}
}

// TestSkew plans for fingerprints whose upper half hardly varies. A table that leads with it reads thousands of
// candidates. With a sample, the plan chooses the one of two designs that leads with other bits.
func TestSkew(t *testing.T) {
	fingerprints := uniformKeys(100_000, 1)
	for i := range fingerprints {
		fingerprints[i] &= 0x00000000ffffffff | 0x0101010100000000
	}
	s, err := NewSample(fingerprints, len(fingerprints), 1)
	must.Do(t, err)
	upper := permute.Design{Name: "upper", K: 1, Tables: []permute.Table{{Mask: 0xffffffff << 32, Radius: 1}}}
	lower := permute.Design{Name: "lower", K: 1, Tables: []permute.Table{{Mask: 0xffffffff, Radius: 1}}}
	ask := func(s *Sample, designs ...permute.Design) Option {
		p, err := New(t.Context(), Request{Fingerprints: 100_000, K: 1, Designs: designs, Layout: table.LayoutPlanar,
			Sample: s})
		must.Do(t, err)
		return p.Choice
	}
	uniform, skewed := ask(nil, upper), ask(s, upper)
	if skewed.Candidates < 50*uniform.Candidates || skewed.OnlineNS < 2*uniform.OnlineNS {
		t.Errorf("%.0f candidates and %.0f ns by the sample, %.0f and %.0f without", skewed.Candidates, skewed.OnlineNS,
			uniform.Candidates, uniform.OnlineNS)
	}
	if c := ask(s, upper, lower); c.Name != "lower" {
		t.Errorf("the choice is %s", c.Name)
	}
	if c := ask(nil, upper, lower); c.Name != "upper" {
		t.Errorf("without a sample the choice is %s: both cost the same, the first should be taken", c.Name)
	}
}

// TestReads checks that a line costs more if the memory is larger. The cost equals the measured one at the measured
// size, and is continuous.
func TestReads(t *testing.T) {
	for _, r := range reference.reads {
		if got := reference.readAmong(r.bytes); got != r {
			t.Errorf("read %v, measured %v", got, r)
		}
	}
	before := reference.readAmong(1)
	for bytes := 1.0; bytes < 1<<42; bytes *= 1.01 {
		r := reference.readAmong(bytes)
		if r.batch < before.batch || r.single < before.single || r.batch > 1.05*before.batch+0.1 {
			t.Fatalf("%g bytes: %v after %v", bytes, r, before)
		}
		before = r
	}
}

// TestMachine checks that the costs of this machine are plausible, that they change only times, and that each kind of
// cost counts.
func TestMachine(t *testing.T) {
	p, err := New(t.Context(), Request{Fingerprints: 1e7, K: 3})
	must.Do(t, err)
	here, err := Measure(64 << 20)
	must.Do(t, err)
	slow := func(together, alone float64) *Machine {
		m := new(Machine)
		for _, r := range reference.reads {
			m.reads = append(m.reads, read{r.bytes, together * r.batch, alone * r.single})
		}
		return m
	}
	for _, m := range []*Machine{here, slow(2, 1), slow(1, 2)} {
		q := p.ForMachine(m)
		a, b := p.Choice, q.Choice
		if b.OnlineNS == a.OnlineNS || b.OnlineNS > 1000*a.OnlineNS || b.BatchNS > 1000*a.BatchNS || b.BatchNS <= 0 {
			t.Errorf("%+v: %v and %v ns, the reference takes %v and %v", m, b.OnlineNS, b.BatchNS, a.OnlineNS, a.BatchNS)
		}
		if a.OnlineNS, a.BatchNS = b.OnlineNS, b.BatchNS; a.Name != b.Name || a.Cost != b.Cost {
			t.Errorf("%+v: the choice became %+v", m, b.Cost)
		}
	}
	if a, b := p.Choice, p.ForMachine(&reference).Choice; a.Cost != b.Cost {
		t.Errorf("the reference takes %+v, before %+v", b.Cost, a.Cost)
	}
}

// TestMeasureWithin checks that only reads within the available memory are measured. The others have the ratios of the
// reference machine. A measured one would have another ratio.
func TestMeasureWithin(t *testing.T) {
	for _, available := range []uint64{0, 3 << 20} {
		m, err := Measure(available)
		must.Do(t, err)
		for i, r := range m.reads[1:] {
			ratio, known := r.single/m.reads[i].single, reference.reads[i+1].single/reference.reads[i].single
			if measured := math.Abs(ratio/known-1) > 1e-9; measured != (r.bytes <= float64(available)) {
				t.Errorf("%d bytes available, %.0f bytes read: measured %v", available, r.bytes, measured)
			}
		}
	}
}
