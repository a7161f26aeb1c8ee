package dedup

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/shingle"
)

// A Verify configures how texts are compared.
type Verify struct {
	Rule   Rule         // says when a document may go for the one kept
	Memory int64        // bytes for shingle sets; default [VerifyMemory]. More of them go to a temporary file
	Known  []string     // inputs that have the texts of what Options.Known finds, by the ids that it names
	Meter  *input.Meter // counts the reading, if not nil
	Begin  func()       // is called, if not nil, when all is compared and the reading begins
	Sets   []string     // files of [Members.WriteSets], of all shares; then no text is read

	// Members, if not nil, is called with the documents whose texts are needed, in order, and no text
	// is compared.
	Members func(iter.Seq[Member]) error
}

// VerifyMemory is the default of Verify.Memory. The rest is in the system's cache of the file while
// there is memory for it.
const VerifyMemory = 8 << 20

func (v *Verify) memory() int64 {
	if v.Memory <= 0 {
		return VerifyMemory
	}
	return v.Memory
}

// changed returns the error of a row that is not what it was. Its file may have vanished, too.
func (c *Corpus) changed(row Row) error {
	at := c.Place(row)
	return ingest.Changed(input.Place(at.File, at.Row))
}

// verify splits the clusters by their texts.
func (r *Result) verify(ctx context.Context, o Options, prefer func(a, b int) int,
	room func(bytes uint64) (memory.Arena, error)) (err error) {
	v := o.Verify
	if v.Begin != nil {
		v.Begin()
	}
	var arena memory.Arena
	if room != nil {
		arena, err = room(uint64(r.found.Rows()) * uint64(resultBytes+comparedBytes+dividedBytes*(1+len(o.Also))))
	}
	defer arena.Free()
	members := memory.In[Row](&arena, r.found.Rows(), &err)[:0]
	if err != nil {
		return err
	}
	for _, c := range r.found.Clusters() {
		members = append(members, c.Rows...)
	}
	slices.Sort(members)
	if v.Members != nil {
		return v.Members(r.corpus.members(members))
	}
	texts, of, err := r.corpus.distinct(&arena, members) // equal ones are read and held once
	if err != nil {
		return err
	}
	sets, err := r.corpus.newSets(&arena, len(texts), v.memory())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, sets.Close()) }()
	if v.Sets != nil {
		err = r.corpus.readSets(ctx, v.Sets, sets, texts)
	} else {
		err = r.corpus.shingle(ctx, v, sets, texts)
	}
	if err = cmp.Or(err, sets.End()); err != nil {
		return err
	}
	get := func(row Row, buf *[]uint64) []uint64 {
		i, _ := slices.BinarySearch(members, row)
		return sets.Get(int(of[i]), buf)
	}
	for _, also := range o.Also {
		other := &Result{Known: r.Known, SameURL: r.SameURL, SameText: r.SameText, corpus: r.corpus, verified: true,
			found: r.found}
		so, sv := o, *v
		so.K, sv.Rule, so.Verify = also.K, also.Rule, &sv
		if err := other.settle(ctx, so, false, prefer, get); err != nil {
			return err
		}
		r.Also = append(r.Also, other)
	}
	return r.settle(ctx, o, true, prefer, get)
}

// Bytes of memory for each row that is near another.
const (
	resultBytes   = 16 // in a [cluster.Result]
	comparedBytes = 40 // while texts are compared: its row, number, text and where that one's set is
	dividedBytes  = 20 // in a division
)

// errNoTexts is the error of Options.Verify and Options.Known without the texts of known documents.
var errNoTexts = errors.New("verifying needs the texts of the known documents: give their inputs")

// verifyKnown reads the texts of known documents and of the new ones near them. A new document goes for the
// nearest known one that the rule allows, the first of several, and stays if there is none. If several known
// documents have one ID, the most similar of those that the rule allows counts.
func (r *Result) verifyKnown(ctx context.Context, v *Verify) (err error) {
	if len(r.Known) == 0 {
		return nil
	}
	ids := map[string]uint32{}
	var rows []Row
	var ends []int // of the candidates of each row
	for i, k := range r.Known {
		if i == 0 || k.Row != rows[len(rows)-1] {
			rows, ends = append(rows, k.Row), append(ends, i)
		}
		ends[len(ends)-1]++
		if _, ok := ids[k.Kept]; !ok {
			ids[k.Kept] = uint32(len(ids))
		}
	}
	var arena memory.Arena
	defer arena.Free()
	own, err := r.corpus.newSets(&arena, len(rows), v.memory()/2)
	if err != nil {
		return err
	}
	known, err := r.corpus.newSets(&arena, 0, v.memory()/2)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, own.Close(), known.Close()) }()
	if err := cmp.Or(r.corpus.shingle(ctx, v, own, rows), own.End()); err != nil {
		return err
	}
	of, err := known.ReadByID(ctx, v.Known, ids, r.corpus.again(v.Meter))
	if err != nil {
		return err
	}
	chosen := make([]*Drop, len(rows))
	err = shingle.Each(ctx, r.corpus.o.Threads, len(rows), func(i int, bufs *shingle.Buffers) error {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		for j := from; j < ends[i] && chosen[i] == nil; j++ {
			k := &r.Known[j]
			for _, n := range of[ids[k.Kept]] {
				if like, ok := v.Rule.Judge(own.Get(i, &bufs[0]), known.Get(n, &bufs[1])); ok &&
					(chosen[i] == nil || like.Jaccard > k.Jaccard) {
					chosen[i], k.Likeness = k, like
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var found []Drop
	for _, k := range chosen {
		if k != nil {
			found = append(found, *k)
		}
	}
	r.Known = found
	r.Rejected += len(rows) - len(found)
	return nil
}

// newSets returns room for n sets, of which some bytes are in memory and more in a temporary file.
func (c *Corpus) newSets(a *memory.Arena, n int, bytes int64) (*shingle.Sets, error) {
	return shingle.NewSets(a, n, bytes, c.o.TempDir, c.o.Disk)
}

// shingle reads the documents again and puts the sets of the members, which are ascending, into s.
func (c *Corpus) shingle(ctx context.Context, v *Verify, s *shingle.Sets, members []Row) error {
	return c.readAgain(ctx, c.again(v.Meter), members, func(ctx context.Context) func(int, *format.Document) error {
		shingler := shingle.New(ctx)
		var set []uint64
		return func(i int, doc *format.Document) error {
			set = shingler.Append(set[:0], doc.Text)
			return s.Put(i, set)
		}
	})
}

// Texts reads the inputs again and returns the texts of some rows. It costs as much as reading all;
// the texts are held in memory.
func (c *Corpus) Texts(ctx context.Context, rows []Row) (map[Row]string, error) {
	if err := c.from.readable(); err != nil {
		return nil, err
	}
	rows = slices.Compact(slices.Sorted(slices.Values(rows)))
	texts := map[Row]string{}
	var mu sync.Mutex
	err := c.readAgain(ctx, c.again(nil), rows, func(context.Context) func(int, *format.Document) error {
		return func(i int, doc *format.Document) error {
			mu.Lock()
			defer mu.Unlock()
			texts[rows[i]] = strings.Clone(doc.Text)
			return nil
		}
	})
	return texts, err
}

// readAgain reads the documents again and hands those of some rows, which are ascending, with their
// indexes to functions of several goroutines. The error of a document that is not what it was says
// so.
func (c *Corpus) readAgain(ctx context.Context, cfg ingest.Config, rows []Row,
	worker func(context.Context) func(i int, doc *format.Document) error) error {
	var made int
	wanted := func(unit int) (i int, ok bool) {
		return slices.BinarySearchFunc(rows, uint64(unit), func(row Row, unit uint64) int {
			return cmp.Compare(c.from.units.All[row], unit)
		})
	}
	_, err := ingest.Extract(ctx, c.from.inputs, cfg, ingest.Steps[struct{}]{
		FileUnits: c.from.fileUnits,
		Want: func(unit int) bool {
			_, ok := wanted(unit)
			return ok
		},
		Worker: func(ctx context.Context) (func(int, *format.Document) (struct{}, error), error) {
			do := worker(ctx)
			return func(unit int, doc *format.Document) (none struct{}, err error) {
				i, _ := wanted(unit)
				if !c.same(rows[i], doc) {
					return none, c.changed(rows[i])
				}
				return none, do(i, doc)
			}, nil
		},
		Emit: func(struct{}) error { made++; return nil },
	})
	if err == nil && made != len(rows) {
		return ingest.Changed(strings.Join(c.from.inputs, ", "))
	}
	return err
}

// same returns whether the document of a row is what it was.
func (c *Corpus) same(row Row, doc *format.Document) bool {
	hash := c.hashes.All // none in a test
	return doc.ID == c.records.of(row).id && (len(hash) == 0 || ingest.HashOf(doc.Text) == hash[row])
}

// A division replaces the clusters of a result by groups of their rows, with likenesses.
type division struct {
	*cluster.Division
	likes []Likeness
}

// divide returns a division of the clusters without groups, as [cluster.Result.Divide] does. Its memory is
// that of the corpus's results.
func (r *Result) divide(inPlace bool) (d division, err error) {
	arena := &r.corpus.results
	if d.Division, err = r.found.Divide(arena, inPlace); err != nil {
		return d, err
	}
	likes := memory.In[uint64](arena, r.found.Room(), &err)
	d.likes = unsafe.Slice((*Likeness)(unsafe.Pointer(unsafe.SliceData(likes))), len(likes)) // two float32 each
	return d, err
}

// add adds the groups of a cluster whose rows begin at number at of all.
func (d *division) add(at int, groups []group) {
	for _, g := range groups {
		rows := make([]Row, len(g.members))
		for i, m := range g.members {
			rows[i], d.likes[at+i] = m.row, m.like
		}
		d.Add(at, cluster.Cluster{Rows: rows, Representative: g.kept})
		at += len(rows)
	}
}
