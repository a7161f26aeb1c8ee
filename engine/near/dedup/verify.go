package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/cluster"
	"ndd/engine/near/shingle"
	"ndd/engine/storage/disk"
)

// A Verify configures how texts are compared.
type Verify struct {
	Jaccard float64         // least similarity of a document to what is kept for it, above 0 to 1
	Memory  int64           // bytes for shingle sets; default [VerifyMemory]. More of them go to a temporary file
	TempDir string          // of that file; default os.TempDir()
	Disk    *disk.Disk      // that it is on; default the system's
	Known   []string        // inputs that have the texts of what Options.Known finds, by the ids that it names
	Meter   *document.Meter // counts the reading, if not nil
	Begin   func()          // is called, if not nil, when all is compared and the reading begins
}

// VerifyMemory is the default of Verify.Memory: enough for the sets of most corpora.
const VerifyMemory = 512 << 20

func (v *Verify) memory() int64 {
	if v.Memory <= 0 {
		return VerifyMemory
	}
	return v.Memory
}

// ParseVerify returns the X of jaccard>=X.
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

// errAgain begins what keeps documents from being read again.
var errAgain = errors.New("texts are needed again, and")

// readable returns why the documents cannot be read again; nil if they can.
func (c *Corpus) readable() error {
	if c.inputs == nil {
		return fmt.Errorf("%w fingerprints have none: give the documents", errAgain)
	}
	if i := slices.IndexFunc(c.inputs, document.ReadOnce); i >= 0 {
		return fmt.Errorf("%w a pipe (%s) cannot be read twice: put it in a file", errAgain, c.inputs[i])
	}
	return nil
}

// changed returns the error of documents that are not what they were.
func changed(where string) error {
	return fmt.Errorf("%s: changed since it was first read: run again while nothing writes to it", where)
}

// verify splits the clusters by their texts.
func (r *Result) verify(ctx context.Context, v *Verify, threads int, prefer func(a, b int) int) (err error) {
	if v.Begin != nil {
		v.Begin()
	}
	clusters := slices.Collect(r.Clusters())
	members := make([]Row, 0, r.found.Rows())
	for _, c := range clusters {
		members = append(members, c.Rows...)
	}
	slices.Sort(members)
	sets := shingle.NewSets(len(members), v.memory(), v.TempDir, v.Disk)
	defer func() { err = cmp.Or(err, sets.Close()) }()
	if err := r.corpus.shingle(ctx, v, sets, members, threads); err != nil {
		return err
	}
	groups := make([][]group, len(clusters))
	s := splitter{least: v.Jaccard, sets: sets, rows: members, prefer: prefer}
	err = shingle.Each(ctx, threads, len(clusters), func(i int, bufs *[2][]uint64) (err error) {
		groups[i], err = s.split(ctx, clusters[i], bufs)
		return err
	})
	if err == nil {
		r.replaceClusters(slices.Concat(groups...))
	}
	return err
}

// errNoTexts is the error of Options.Verify and Options.Known without the texts of known documents.
var errNoTexts = errors.New("verifying needs the texts of the known documents: give their inputs")

// verifyKnown reads the texts of known documents and of the new ones near them. New documents whose
// texts are not alike are not dropped; it returns rest with their rows. If several known documents
// have one ID, the most similar counts.
func (r *Result) verifyKnown(ctx context.Context, v *Verify, threads int, rest []Row) (_ []Row, err error) {
	if len(r.Known) == 0 {
		return rest, nil
	}
	ids := map[string]uint32{}
	rows := make([]Row, len(r.Known))
	for i, k := range r.Known {
		rows[i] = k.Row
		if _, ok := ids[k.ID]; !ok {
			ids[k.ID] = uint32(len(ids))
		}
	}
	own, known := shingle.NewSets(len(rows), v.memory()/2, v.TempDir, v.Disk),
		shingle.NewSets(0, v.memory()/2, v.TempDir, v.Disk)
	defer func() { err = cmp.Or(err, own.Close(), known.Close()) }()
	if err := r.corpus.shingle(ctx, v, own, rows, threads); err != nil {
		return nil, err
	}
	of, err := known.ReadByID(ctx, v.Known, ids, r.corpus.again(v, threads))
	if err != nil {
		return nil, err
	}
	shares := make([]float64, len(rows))
	err = shingle.Each(ctx, threads, len(rows), func(i int, bufs *[2][]uint64) (err error) {
		shares[i], err = shingle.MaxJaccard(own, i, known, of[ids[r.Known[i].ID]], bufs)
		return err
	})
	if err != nil {
		return nil, err
	}
	alike := r.Known[:0]
	for i, k := range r.Known {
		if k.Similarity = float32(shares[i]); shares[i] >= v.Jaccard {
			alike = append(alike, k)
		} else {
			rest = append(rest, k.Row)
			r.Rejected++
		}
	}
	r.Known = alike
	slices.Sort(rest)
	return rest, nil
}

// shingle reads the documents again and puts the sets of the members, which are ascending, into s.
func (c *Corpus) shingle(ctx context.Context, v *Verify, s *shingle.Sets, members []Row, threads int) error {
	return c.readAgain(ctx, c.again(v, threads), members, func() func(int, *document.Document) error {
		shingler := shingle.New()
		var set []uint64
		return func(i int, doc *document.Document) error {
			set = shingler.Append(set[:0], doc.Text)
			return s.Put(i, set)
		}
	})
}

// Texts reads the inputs again and returns the texts of some rows. It costs as much as reading all;
// the texts are held in memory.
func (c *Corpus) Texts(ctx context.Context, rows []Row, threads int) (map[Row]string, error) {
	if err := c.readable(); err != nil {
		return nil, err
	}
	rows = slices.Compact(slices.Sorted(slices.Values(rows)))
	texts := make([]string, len(rows))
	err := c.readAgain(ctx, c.again(&Verify{}, threads), rows, func() func(int, *document.Document) error {
		return func(i int, doc *document.Document) error {
			texts[i] = strings.Clone(doc.Text)
			return nil
		}
	})
	byRow := map[Row]string{}
	for i, row := range rows {
		byRow[row] = texts[i]
	}
	return byRow, err
}

// readAgain reads the documents again and hands those of some rows, which are ascending, with their
// indexes to functions of several goroutines. The error of a document that is not what it was says
// so.
func (c *Corpus) readAgain(ctx context.Context, cfg ingest.Config, rows []Row,
	worker func() func(i int, doc *document.Document) error) error {
	var made int
	wanted := func(unit int) (i int, ok bool) {
		if !c.units.has(unit) {
			return 0, false
		}
		return slices.BinarySearch(rows, c.rowAt(unit))
	}
	report, err := ingest.Extract(ctx, c.inputs, cfg, ingest.Steps[struct{}]{
		FileUnits: c.fileUnits,
		Want: func(unit int) bool {
			_, ok := wanted(unit)
			return ok
		},
		Worker: func() (func(int, *document.Document) (struct{}, error), error) {
			do := worker()
			return func(unit int, doc *document.Document) (none struct{}, err error) {
				i, _ := wanted(unit)
				if !c.same(rows[i], doc) {
					return none, changed(c.ID(rows[i]))
				}
				return none, do(i, doc)
			}, nil
		},
		Emit: func(struct{}) error { made++; return nil },
	})
	if err == nil && (!slices.Equal(report.FileUnits, c.fileUnits) || made != len(rows)) {
		return changed(strings.Join(c.inputs, ", "))
	}
	return err
}

// again returns the configuration for a second reading, which skips the same inputs as the first.
func (c *Corpus) again(v *Verify, threads int) ingest.Config {
	cfg := ingest.Config{Document: c.options, Threads: threads}
	cfg.Document.Meter, cfg.Document.Strict = v.Meter, false
	return cfg
}

// same returns whether the document of a row is what it was.
func (c *Corpus) same(row Row, doc *document.Document) bool {
	r := c.record(row)
	return doc.ID == r.id && lengthOf(len(doc.Text)) == r.length
}

// A group is a document that is kept and those whose texts are like its own.
type group struct {
	kept    Row
	members []member
}

// A member is a row of a group with its similarity to the one kept.
type member struct {
	row   Row
	share float32
}

// A splitter splits clusters by the texts of their documents. Many goroutines may use it.
type splitter struct {
	least  float64       // Jaccard
	sets   *shingle.Sets // of rows
	rows   []Row         // ascending
	prefer func(a, b int) int
}

// split returns the groups of a cluster: each document, the most preferred first, goes to the first
// group whose kept document is similar enough, or begins one.
func (p *splitter) split(ctx context.Context, c Cluster, bufs *[2][]uint64) ([]group, error) {
	rows := slices.Clone(c.Rows)
	if p.prefer != nil {
		slices.SortStableFunc(rows, func(a, b Row) int { return p.prefer(int(a), int(b)) })
	}
	var groups []group
	var leaders []int // sets of the documents that groups keep
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, _ := slices.BinarySearch(p.rows, row)
		g, share, err := p.find(leaders, set, bufs)
		if err != nil {
			return nil, err
		}
		if g < 0 {
			g, share = len(groups), 1
			groups, leaders = append(groups, group{kept: row}), append(leaders, set)
		}
		groups[g].members = append(groups[g].members, member{row, float32(share)})
	}
	for _, g := range groups {
		slices.SortFunc(g.members, func(a, b member) int { return cmp.Compare(a.row, b.row) })
	}
	return groups, nil
}

// find returns the first leader that is similar enough to a document, -1 for none.
func (p *splitter) find(leaders []int, one int, bufs *[2][]uint64) (g int, share float64, err error) {
	var set []uint64
	for i, leader := range leaders {
		if shingle.JaccardBound(p.sets.Len(leader), p.sets.Len(one)) < p.least {
			continue
		}
		if set == nil {
			if set, bufs[0], err = p.sets.Get(one, bufs[0]); err != nil {
				return 0, 0, err
			}
		}
		var other []uint64
		if other, bufs[1], err = p.sets.Get(leader, bufs[1]); err != nil {
			return 0, 0, err
		}
		if share := shingle.Jaccard(other, set); share >= p.least {
			return i, share, nil
		}
	}
	return -1, 0, nil
}

// replaceClusters replaces the clusters with the groups of two and more documents.
func (r *Result) replaceClusters(groups []group) {
	before := r.found.Rows() - r.found.Len()
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.members[0].row, b.members[0].row) })
	r.found, r.shares = new(cluster.Result), make([]float32, 0, r.found.Rows())
	var rows []Row
	for _, g := range groups {
		if len(g.members) < 2 {
			continue
		}
		rows = rows[:0]
		for _, m := range g.members {
			rows, r.shares = append(rows, m.row), append(r.shares, m.share)
		}
		r.found.Append(cluster.Cluster{Rows: rows, Representative: g.kept})
	}
	r.Rejected += before - (r.found.Rows() - r.found.Len())
}
