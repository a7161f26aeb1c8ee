package plan

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"ndd/engine/index/table"
)

// madeUp are costs that no two of are alike.
var madeUp = map[table.Layout]Costs{
	table.LayoutPlanar:  {CallNS: 50, QueryNS: 40, TableNS: 5, ProbeNS: 10, ListNS: 6, UnitNS: 2, PassNS: 17},
	table.LayoutHuffman: {CallNS: 30, QueryNS: 200, TableNS: 25, ProbeNS: 80, UnitNS: 370},
}

// alike reports whether costs are the same within rounding, and what a distance of 0 lets pass by chance.
func alike(a, b Costs) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if math.Abs(x.Field(i).Float()-y.Field(i).Float()) > 0.01*y.Field(i).Float()+1e-6 {
			return false
		}
	}
	return true
}

// TestCostsOfMadeUpTimes: from the times of a machine with known costs come these costs. On it, a planar search whose probes are not made in
// advance, as those of a segment are, takes more for each: so it shows which searches are prepared, and that the rest is told apart.
func TestCostsOfMadeUpTimes(t *testing.T) {
	for _, md := range models {
		made := madeUp[md.layout()]
		timed, err := timerFor(t.Context(), 0).tableTimer(md, spacedKeys(timedKeys))
		if err != nil {
			t.Fatal(err)
		}
		const around = 3.0 // of each query, whatever its probes
		timed.take = func(s table.Search) float64 {
			w := timed.work(s.Leading, s.K)
			probes := float64(s.Flips.Len())
			ns := around + probes*made.ProbeNS + (md.units(w)-md.units(timed.work(narrow, 0)))*made.UnitNS + w.passing()*made.PassNS
			if reflect.DeepEqual(s, table.Search{Leading: s.Leading, Flips: s.Flips, K: s.K}) { // nothing is made in advance
				ns += probes * made.ListNS
			}
			return timedTogether * ns
		}
		want := Costs{ProbeNS: made.ProbeNS, ListNS: made.ListNS, UnitNS: made.UnitNS, PassNS: made.PassNS}
		if got := timed.costs(); !alike(got, want) {
			t.Errorf("%s: %+v, want %+v", md.layout(), got, want)
		}
	}
}

// madeUpSegments take what segments with given costs take, whose probes cost more, as small tables have them.
type madeUpSegments struct {
	t     *testing.T
	costs Costs
	small float64
	fails error
}

func (m *madeUpSegments) smallProbe(_ model, keys []uint64) (float64, error) {
	m.check(keys)
	return m.small, nil
}

func (m *madeUpSegments) segmentTimes(_ model, design string, k int, keys []uint64, _ *Costs) (segmentTimes, error) {
	m.check(keys)
	s := segmentTimes{tables: 1, further: 7}
	if design != "one" {
		s = segmentTimes{tables: 10, further: 13}
	}
	if (design == "one") != (k == 0) {
		m.t.Errorf("%s for distance %d", design, k)
	}
	c := &m.costs
	s.alone = c.CallNS + s.tables*(c.QueryNS+c.ProbeNS) + s.further
	s.batch = s.tables*(c.TableNS+m.small) + s.further
	return s, m.fails
}

// check holds the keys of a segment, of whose number are the probes that are taken off.
func (m *madeUpSegments) check(keys []uint64) {
	if len(keys) < segmentKeys*9/10 || len(keys) > segmentKeys {
		m.t.Errorf("%d keys", len(keys))
	}
}

// TestCallsOfMadeUpTimes: what is around the probes is told from the times of segments of one table and of ten, where in a batch the
// probes that are taken off are those of so small a table, and not of the larger ones that ProbeNS is of. An error is told.
func TestCallsOfMadeUpTimes(t *testing.T) {
	for _, md := range models {
		want := madeUp[md.layout()]
		m := &madeUpSegments{t, want, 1.4 * want.ProbeNS, nil}
		got := want
		got.CallNS, got.QueryNS, got.TableNS = 0, 0, 0
		if err := callCosts(m, md, &got); err != nil || !alike(got, want) {
			t.Errorf("%s: %+v, want %+v; %v", md.layout(), got, want, err)
		}
		m.fails = errors.New("no segment")
		if err := callCosts(m, md, &got); !errors.Is(err, m.fails) {
			t.Errorf("%s: %v", md.layout(), err)
		}
	}
}

// TestListsCost: a design of more probes than are prepared takes ListNS more for each of them, and one of fewer nothing.
func TestListsCost(t *testing.T) {
	for design, lists := range map[string]bool{"one": true, "halves": false} {
		m := yardstick()
		before := optionOf(t, m, design, table.LayoutPlanar)
		c := m.Layouts[table.LayoutPlanar]
		c.ListNS = 6
		m.Layouts[table.LayoutPlanar] = c
		after := optionOf(t, m, design, table.LayoutPlanar)
		want := 0.0
		if lists {
			want = 6 * before.Probes
		}
		if more := after.BatchNS - before.BatchNS; math.Abs(more-want) > 1e-6*before.BatchNS {
			t.Errorf("%s: lists of %.0f probes cost %.1f ns, want %.1f", design, before.Probes, more, want)
		}
	}
}

// optionOf returns what a machine is foretold to take for a design, of a million fingerprints.
func optionOf(t *testing.T, m *Machine, design string, layout table.Layout) Option {
	t.Helper()
	p, err := New(t.Context(), Request{Fingerprints: 1e6, K: 3, Layout: layout, Machine: m, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Options {
		if o.Name == design && !o.Scan {
			return o
		}
	}
	t.Fatalf("no design %s that probes", design)
	return Option{}
}

// TestLinesBeside: lines of a block that are asked for with its first cost what was measured of such, and as much less than lines in order as before
// where it was not.
func TestLinesBeside(t *testing.T) {
	m := yardstick()
	without := optionOf(t, m, "paper-10", table.LayoutHuffman)
	for i := range m.Reads {
		m.Reads[i].Beside = 1 + float64(i) // 1 in cache
	}
	read := m.extra(float64(m.Reads[2].Bytes))
	if got := m.lineAmong(read); math.Abs(got-2) > 1e-9 {
		t.Errorf("a line beside others takes %.2f ns more than in cache, want 2", got)
	}
	with := optionOf(t, m, "paper-10", table.LayoutHuffman)
	for i := range m.Reads {
		m.Reads[i].Beside *= 10
	}
	if more := optionOf(t, m, "paper-10", table.LayoutHuffman); more.BatchNS <= with.BatchNS || with.BatchNS == without.BatchNS {
		t.Errorf("batches take %.0f ns, with lines measured %.0f, with dear ones %.0f", without.BatchNS, with.BatchNS, more.BatchNS)
	}
	m.Reads[1].Beside = -1
	if m.Check() == nil {
		t.Error("lines that take less than no time are no error")
	}
}

// TestReadsUpTo: reads are measured up to a size that the last cache does not hold, and beyond it they go on to cost more.
func TestReadsUpTo(t *testing.T) {
	for cache, want := range map[uint64]uint64{0: 256 << 20, 32 << 20: 256 << 20, 256 << 20: 256 << 20, 480 << 20: 512 << 20, 1 << 40: 1 << 30} {
		if got := readsUpTo(cache); got != want {
			t.Errorf("a cache of %d bytes: reads of up to %d are measured, want %d", cache, got, want)
		}
	}
}

// TestDrawLines: of each pass come the first lines of all places, and then the lines behind them; all are in the memory.
func TestDrawLines(t *testing.T) {
	const words, lines = 1 << 16, 8
	index := make([]uint64, 3*passReads*lines)
	drawLines(rand.New(rand.NewPCG(1, 2)), index, words, lines)
	places := make(map[uint64]bool)
	for i, at := range index {
		pass, j := i/(passReads*lines), i%(passReads*lines)
		first := index[pass*passReads*lines+j%passReads]
		if want := first + uint64(j/passReads*lineWords); at != want || first%(lines*lineWords) != 0 || at >= words {
			t.Fatalf("line %d of pass %d is at %d, want %d", j, pass, at, want)
		}
		places[first] = true
	}
	if len(places) < 2*passReads {
		t.Errorf("%d places", len(places))
	}
}
