package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/succinct"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/permute"
)

// A Plan is the answer to a request: all options, the choice, and the reasons.
type Plan struct {
	Request Request
	Options []Option // all options, by ascending bytes
	Choice  Option   // chosen option; it fits
	Reasons []string // reasons, in sentences
}

// New returns the plan for a request. It fails with a [*NoRoomError] if no option fits in the memory, with the error
// of ctx if that has ended, or if the request is invalid. The same request gives the same plan on every machine. It
// takes a millisecond, or less than a second with a sample, for all fingerprints (TestPlanningIsQuick).
//
// With a memory limit, New chooses the fastest option that fits, or the smallest one that takes at most a quarter
// more time. Without a limit, it chooses the option with the minimum of bytes times nanoseconds.
func New(ctx context.Context, r Request) (*Plan, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.Purpose == "" {
		r.Purpose = Online
	}
	if r.IDs == "" {
		r.IDs = IDsNone
	}
	p := &Plan{Request: r}
	// Predict every design in every layout.
	designs, err := candidates(&r)
	if err != nil {
		return nil, err
	}
	for i := range designs {
		var estimates []*estimate
		if r.Sample != nil {
			estimates = r.Sample.estimates(&designs[i], float64(r.Fingerprints))
		}
		for _, md := range models {
			if r.Layout != "" && r.Layout != md.layout() {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p.Options = append(p.Options, p.option(&designs[i], md, estimates))
		}
	}
	// Choose one and explain the choice.
	slices.SortStableFunc(p.Options, func(a, b Option) int { return cmp.Compare(a.Bytes, b.Bytes) })
	best, err := p.choose()
	if err != nil {
		return nil, err
	}
	p.mark(best)
	p.Choice = p.Options[best]
	p.explain()
	return p, nil
}

// candidates returns the designs to consider: the catalogue or, if the request has a number of tables, all known
// designs with that number.
func candidates(r *Request) ([]permute.Design, error) {
	if r.Designs != nil {
		return r.Designs, nil
	}
	// Without a number of tables, the catalogue is enough.
	list := permute.Catalogue(r.K, r.Seed)
	if r.Tables == 0 {
		return list, nil
	}
	var sizes []int
	for _, d := range list {
		sizes = append(sizes, len(d.Tables))
	}
	// Add the designs of the paper.
	if r.K == 3 {
		for _, tables := range []int{4, 10, 16, 20} {
			d, err := permute.ByName(fmt.Sprintf("paper-%d", tables), r.K, r.Seed)
			if err != nil {
				return nil, err
			}
			list, sizes = append(list, d), append(sizes, tables)
		}
	}
	// Add the general scheme with that number of tables.
	for blocks := r.K + 1; r.K > 0 && blocks <= 64; blocks++ {
		tables := permute.Binomial(blocks, r.K)
		if tables > permute.MaxTables {
			break
		}
		if sizes = append(sizes, int(tables)); int(tables) == r.Tables {
			d, err := permute.ByName(fmt.Sprintf("choose-%d-%d", blocks, blocks-r.K), r.K, r.Seed)
			if err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	// Keep the designs with that number of tables.
	list = slices.DeleteFunc(list, func(d permute.Design) bool { return len(d.Tables) != r.Tables })
	list = distinct(list)
	if len(list) == 0 {
		slices.Sort(sizes)
		return nil, fmt.Errorf("no design of %d tables for k = %d: there are designs of %v", r.Tables, r.K,
			slices.Compact(sizes))
	}
	return list, nil
}

// distinct removes designs that have the same tables as an earlier design with another name.
func distinct(list []permute.Design) (result []permute.Design) {
	for _, d := range list {
		if !slices.ContainsFunc(result, func(e permute.Design) bool { return slices.Equal(d.Tables, e.Tables) }) {
			result = append(result, d)
		}
	}
	return result
}

// option predicts the cost of a design in a layout. Without estimates for its tables, fingerprints are uniform.
func (p *Plan) option(d *permute.Design, md model, estimates []*estimate) (o Option) {
	r := &p.Request
	n := float64(r.Fingerprints)
	uniform := uniformEntry(n)
	o = Option{Design: *d, Name: d.Name, Layout: md.layout(), Tables: len(d.Tables), Radius: [2]int{math.MaxInt, 0}}
	o.Leading[0], o.Leading[1] = d.Leading()
	// Sum up bytes and work of the tables.
	for i, t := range d.Tables {
		var s *estimate
		e := uniform
		if estimates != nil {
			s = estimates[i]
			e = s.entry
		}
		w := workOn(s, md, t, n, r.K, e)
		o.work = append(o.work, w)
		o.Probes += w.probes
		o.Candidates += w.probes * w.candidates
		o.BucketBits = md.bucketBits(n, e)
		o.Radius = [2]int{min(o.Radius[0], t.Radius), max(o.Radius[1], t.Radius)}
		o.TableBytes += table.Sum(md.parts(n, e))
		if s != nil && md.layout() == table.LayoutPlanar {
			o.TableBytes += s.wideBytes(n)
		}
	}
	// Add the times, the IDs, and whether the option fits.
	o.time(&reference, n)
	if r.IDs != IDsNone {
		o.IDBytes = r.rowBytes() + r.NameBytes
	}
	o.Bytes = o.TableBytes + o.IDBytes
	o.Fits = r.Memory == 0 || o.Bytes <= r.Memory
	return o
}

// batchQueries is the number of queries of a batch that one call searches (live.BatchChunk).
const batchQueries = 256

// time sets the times of an option for n fingerprints on a machine. If its probes would cost more than comparing a
// query with all keys of one table, a segment does the latter.
func (o *Option) time(m *Machine, n float64) {
	o.OnlineNS, o.BatchNS = modelOf(o.Layout).time(m, o.work)
	if online := table.ScanNS(o.Layout, n, 1); o.BatchNS > table.ScanFromNS && o.OnlineNS > online {
		o.Scan, o.Candidates, o.OnlineNS = true, n, online
		o.BatchNS = min(o.BatchNS, table.ScanNS(o.Layout, n, batchQueries)/batchQueries)
	}
	online, batch := m.answers(float64(o.TableBytes))
	o.OnlineNS, o.BatchNS = o.OnlineNS+online, o.BatchNS+batch
}

// rowBytes returns the bytes of the documents' ordinals. If there are more documents than fingerprints, it adds a bit
// per document that marks the first one of its fingerprint.
func (r *Request) rowBytes() uint64 {
	n := max(r.Documents, r.Fingerprints)
	bytes := 8 * succinct.WordsFor(n, succinct.WidthFor(max(n, 1)-1))
	if n > r.Fingerprints {
		bytes += succinct.OnesBytes(n, r.Fingerprints)
	}
	return bytes
}

// mark finds the frontier: the choice, and each option that is faster than all smaller ones of the frontier, alone or
// in batches, by more than the model may err.
func (p *Plan) mark(choice int) {
	const tolerance = 1.02 // ratio of sizes that count as equal
	faster := func(o, smaller *Option) bool {
		return errorRatio*o.OnlineNS <= smaller.OnlineNS || errorRatio*o.BatchNS <= smaller.BatchNS
	}
	for i := range p.Options {
		o := &p.Options[i]
		o.Frontier = true
		for j := range p.Options {
			other := &p.Options[j]
			if j < i && other.Frontier && !faster(o, other) || i < choice && j == choice && float64(other.Bytes) <=
				tolerance*float64(o.Bytes) && !faster(o, other) {
				o.Frontier = i == choice
			}
		}
	}
}

// ForMachine returns the plan with the times of a machine. The choice stays the same.
func (p *Plan) ForMachine(m *Machine) *Plan {
	q := *p
	q.Reasons, q.Options = nil, slices.Clone(p.Options)
	for i := range q.Options {
		q.Options[i].time(m, float64(p.Request.Fingerprints))
	}
	q.Choice.time(m, float64(p.Request.Fingerprints))
	q.explain()
	return &q
}

const (
	// smallerRatio is the maximum ratio of times at which a smaller option is preferred.
	smallerRatio = 1.25
	// errorRatio is the minimum ratio of times that the model can tell apart.
	errorRatio = 1.4
)

// choose returns the index of the option to choose.
func (p *Plan) choose() (int, error) {
	r := &p.Request
	best := -1
	score := func(o *Option) float64 {
		if r.Memory == 0 {
			return o.nanoseconds(r.Purpose) * float64(o.Bytes)
		}
		return o.nanoseconds(r.Purpose)
	}
	for i := range p.Options {
		if o := &p.Options[i]; o.Fits && (best < 0 || score(o) < score(&p.Options[best])) {
			best = i
		}
	}
	if best < 0 {
		return 0, &NoRoomError{*r, p.Options[0]}
	}
	for i := range best { // options are sorted by bytes
		if o := &p.Options[i]; r.Memory > 0 && o.Fits && score(o) <= smallerRatio*score(&p.Options[best]) {
			best = i
			break
		}
	}
	return best, nil
}

// A NoRoomError reports that no option fits. Smallest is the smallest option.
type NoRoomError struct {
	Request
	Smallest Option
}

func (e *NoRoomError) Error() string {
	bound := boundBytes(e.Fingerprints)
	text := fmt.Sprintf("%s fingerprints do not fit in %s", humanize.Comma(int64(e.Fingerprints)), Size(e.Memory))
	if e.Memory < bound+e.Smallest.IDBytes {
		ids := ""
		if e.Smallest.IDBytes > 0 {
			ids = fmt.Sprintf(" and their document numbers %s", Size(e.Smallest.IDBytes))
		}
		text += fmt.Sprintf(": nothing exact could, since their entropy is %s (%.2f bits each)%s", Size(bound),
			distribution.Bound(e.Fingerprints), ids)
	}
	count := ""
	if e.Tables > 0 {
		count = fmt.Sprintf(" of %d tables", e.Tables)
	}
	return fmt.Sprintf("%s; the smallest%s is %s (design %q, %s layout, %s a query)", text, count,
		Size(e.Smallest.Bytes), e.Smallest.Name, e.Smallest.Layout, Duration(e.Smallest.OnlineNS))
}
