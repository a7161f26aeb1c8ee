package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/shingle"
	"ndd/engine/storage/disk"
)

// A Verify says how texts are compared.
type Verify struct {
	Jaccard  float64         // least similarity of a document to what is kept for it, above 0 to 1
	Shingles shingle.Options // what is shared
	Memory   int64           // bytes for shingle sets; default [VerifyMemory]. More of them go to a temporary file
	TempDir  string          // of that file; default os.TempDir()
	Disk     *disk.Disk      // that it is on; default the system's
	Known    []string        // inputs that have the texts of what Options.Known finds, by the ids that it names
	Meter    *document.Meter // counts the reading, if not nil
	Begin    func()          // is called, if not nil, when all is compared and the reading begins
}

// VerifyMemory is enough for most corpora's sets.
const VerifyMemory = 512 << 20

func (v *Verify) memory() int64 {
	if v.Memory <= 0 {
		return VerifyMemory
	}
	return v.Memory
}

// ParseVerify reads jaccard>=X.
func ParseVerify(s string) (threshold float64, err error) {
	number, ok := strings.CutPrefix(strings.ReplaceAll(s, " ", ""), "jaccard>=")
	if ok {
		threshold, err = strconv.ParseFloat(number, 64)
	}
	if !ok || err != nil || !(threshold > 0 && threshold <= 1) {
		return 0, fmt.Errorf("%q: must be jaccard>=X, with X above 0 and at most 1", s)
	}
	return threshold, nil
}

// errAgain is why documents cannot be read again.
var errAgain = errors.New("texts are needed again, and")

// readable tells whether the documents can be read again.
func (c *Corpus) readable() error {
	if c.inputs == nil {
		return fmt.Errorf("%w fingerprints have none: give the documents", errAgain)
	}
	if i := slices.IndexFunc(c.inputs, document.ReadOnce); i >= 0 {
		return fmt.Errorf("%w a pipe (%s) cannot be read twice: put it in a file", errAgain, c.inputs[i])
	}
	return nil
}

// changed is the error of documents that are not what they were.
func changed(where string) error {
	return fmt.Errorf("%s: changed since it was first read: run again while nothing writes to it", where)
}

// verify splits the clusters by their texts.
func (r *Result) verify(ctx context.Context, v *Verify, threads int, prefer func(a, b int) int) (err error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if v.Begin != nil {
		v.Begin()
	}
	members := slices.Clone(r.rows)
	slices.Sort(members)
	s := newSets(v, len(members))
	defer func() { err = cmp.Or(err, s.close()) }()
	if err := r.corpus.shingle(ctx, v, s, members, threads); err != nil {
		return err
	}

	clusters := slices.Collect(r.Clusters())
	settled := make([][]group, len(clusters))
	g, inner := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range threads {
		g.Go(func() error {
			p := splitter{least: v.Jaccard, sets: s, members: members, prefer: prefer}
			for i := next.Add(1) - 1; int(i) < len(clusters); i = next.Add(1) - 1 {
				var err error
				if settled[i], err = p.split(inner, clusters[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r.settle(slices.Concat(settled...))
	return nil
}

// shingle reads the documents again and makes the sets of the members, which
// are ascending.
func (c *Corpus) shingle(ctx context.Context, v *Verify, s *sets, members []uint32, threads int) error {
	row, next := -1, 0
	member := map[int]int{} // by unit, of those that are on their way
	var mu sync.Mutex       // of member
	made := 0
	report, err := ingest.Extract(ctx, c.inputs, c.again(v, threads), ingest.Steps[struct{}]{
		Want: func(unit int) bool {
			if !c.units.has(unit) {
				return false
			}
			if row++; next == len(members) || uint32(row) != members[next] {
				return false
			}
			mu.Lock()
			member[unit] = next
			mu.Unlock()
			next++
			return true
		},
		Worker: func() (func(int, *document.Document) (struct{}, error), error) {
			shingler, err := shingle.New(v.Shingles)
			var set []uint64
			return func(unit int, doc *document.Document) (none struct{}, err error) {
				mu.Lock()
				i := member[unit]
				delete(member, unit)
				mu.Unlock()
				if !c.same(members[i], doc) {
					return none, changed(c.ID(members[i]))
				}
				set = shingler.Append(set[:0], doc.Text)
				return none, s.put(i, set)
			}, err
		},
		Emit: func(struct{}) error { made++; return nil },
	})
	if err == nil && (report.Units != c.scanned || made != len(members)) {
		return changed(strings.Join(c.inputs, ", "))
	}
	return err
}

// again returns how documents are read another time: what was skipped then is skipped now.
func (c *Corpus) again(v *Verify, threads int) ingest.Config {
	cfg := ingest.Config{Document: c.options, Threads: threads}
	cfg.Document.Meter, cfg.Document.Strict = v.Meter, false
	return cfg
}

// same returns whether the document of a row is what it was.
func (c *Corpus) same(row uint32, doc *document.Document) bool {
	return doc.ID == c.ID(row) && uint32(min(uint64(len(doc.Text)), math.MaxUint32)) == c.lengths[row]
}

// A group is what a document is kept for.
type group struct {
	kept   uint32
	rows   []uint32 // ascending
	shares []float32
}

// splitter splits clusters. It belongs to one goroutine.
type splitter struct {
	least   float64
	sets    *sets
	members []uint32
	prefer  func(a, b int) int
	bufs    [2][]uint64
}

// split lets each document, the most preferred first, go to the first group
// whose kept document is similar enough, or else begin one.
func (p *splitter) split(ctx context.Context, c Cluster) ([]group, error) {
	rows := slices.Clone(c.Rows)
	slices.SortFunc(rows, func(a, b uint32) int {
		if p.prefer != nil {
			return cmp.Or(p.prefer(int(a), int(b)), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	var groups []group
	var leaders []int // members that groups keep
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		member, _ := slices.BinarySearch(p.members, row)
		g, share, err := p.find(leaders, member)
		if err != nil {
			return nil, err
		}
		if g < 0 {
			g, share = len(groups), 1
			groups = append(groups, group{kept: row})
			leaders = append(leaders, member)
		}
		groups[g].rows = append(groups[g].rows, row)
		groups[g].shares = append(groups[g].shares, float32(share))
	}
	for i := range groups {
		groups[i].sort()
	}
	return groups, nil
}

// find is the first leader that is similar enough to a member, -1 for none.
func (p *splitter) find(leaders []int, member int) (g int, share float64, err error) {
	var set []uint64
	for i, leader := range leaders {
		if shingle.JaccardBound(p.sets.size(leader), p.sets.size(member)) < p.least {
			continue
		}
		if set == nil {
			if set, p.bufs[0], err = p.sets.get(member, p.bufs[0]); err != nil {
				return 0, 0, err
			}
		}
		var other []uint64
		if other, p.bufs[1], err = p.sets.get(leader, p.bufs[1]); err != nil {
			return 0, 0, err
		}
		if share := shingle.Jaccard(other, set); share >= p.least {
			return i, share, nil
		}
	}
	return -1, 0, nil
}

// sort puts the rows in order.
func (g *group) sort() {
	order := make([]int, len(g.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(g.rows[a], g.rows[b]) })
	rows, shares := make([]uint32, len(order)), make([]float32, len(order))
	for i, from := range order {
		rows[i], shares[i] = g.rows[from], g.shares[from]
	}
	g.rows, g.shares = rows, shares
}

// settle makes clusters of the groups of two and more.
func (r *Result) settle(groups []group) {
	before := len(r.rows) - len(r.ends)
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.rows[0], b.rows[0]) })
	r.rows, r.ends, r.kept, r.shares = r.rows[:0], r.ends[:0], r.kept[:0], make([]float32, 0, len(r.rows))
	for _, g := range groups {
		if len(g.rows) < 2 {
			continue
		}
		r.rows, r.shares = append(r.rows, g.rows...), append(r.shares, g.shares...)
		r.ends, r.kept = append(r.ends, uint32(len(r.rows))), append(r.kept, g.kept)
	}
	r.Rejected += before - (len(r.rows) - len(r.ends))
}
