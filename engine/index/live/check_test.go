package live

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/wal"
)

// smallDocs is the capacity of a memtable of a test. With filledDocs in memtables, inserts wait.
const (
	smallDocs  = 4096
	filledDocs = unflushedMax*smallDocs + 1
)

// filled returns an index in memory that has no space until the returned function is called.
func filled(t *testing.T, c Config) (x *Index, free func()) {
	t.Helper()
	c.flushDocs = smallDocs
	x = memoryIndex(t, c)
	x.upkeep.flushing.Lock() // nothing is sealed
	insert(t, x, someDocs(filledDocs, 3)...)
	return x, sync.OnceFunc(x.upkeep.flushing.Unlock)
}

// TestCheckAndInsertWaiting inserts near-duplicates that wait for memory after all have searched and found nothing.
// Exactly one is inserted.
func TestCheckAndInsertWaiting(t *testing.T) {
	t.Parallel()
	for round := range 5 {
		x, free := filled(t, Config{Design: halves(t)})
		defer free()
		oneOf(t, x, 0xabcdef, func() {
			must.Eventually(t, "somebody waits", func() bool {
				x.writer.mu.Lock()
				defer x.writer.mu.Unlock()
				return x.writer.state.space.room != nil
			})
			if round%2 == 0 {
				time.Sleep(5 * time.Millisecond) // time in which, usually, all of them begin to wait
			}
			free()
		})
	}
}

// oneOf decides four documents near a fingerprint at the same time, after all have searched and found nothing,
// together with later calls. Exactly one document is inserted, and the others are refused because of it.
func oneOf(t *testing.T, x *Index, f simhash.Fingerprint, start func()) {
	t.Helper()
	next := x.versions.Current().End()
	var group sync.WaitGroup
	var inserted atomic.Int64
	begin := make(chan struct{})
	for i := range 4 {
		c := checking(t, x, rows.Doc{Fingerprint: f ^ 1<<(20+i)})
		group.Go(func() {
			<-begin
			out, err := c.conclude()
			if err != nil {
				t.Error(err)
			} else if o := out[0]; o.Inserted && o.Doc == next {
				inserted.Add(1)
			} else if len(o.Near) != 1 || o.Near[0].Distance != 2 || len(o.Near[0].Docs) != 1 {
				t.Errorf("kept out by %+v", o.Near)
			}
		})
	}
	close(begin)
	start()
	if group.Wait(); inserted.Load() != 1 {
		t.Fatalf("%d of four documents near %v were inserted", inserted.Load(), f)
	}
}

// TestCheckAndInsertAfterFlush moves documents that were inserted since the search to segments before the call gets the
// lock.
func TestCheckAndInsertAfterFlush(t *testing.T) {
	x, free := filled(t, Config{Design: halves(t)})
	defer free()
	c := checking(t, x, rows.Doc{Fingerprint: 12345})
	if c.near[0].Near != nil {
		t.Fatal(c.near)
	}
	free()
	docs := someDocs(2*smallDocs, 7)
	docs[1].Fingerprint = 12344
	insert(t, x, docs...)
	must.Eventually(t, "the near one is sealed", func() bool { return x.versions.Current().Memtables[0].First > c.firstUnseen })
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	n, err := c.decide(0)
	if err != nil || len(c.pending.docs) != 0 || n != 1 || len(c.near[0].Near) != 1 {
		t.Errorf("%+v, %v: a near-duplicate in a segment was not seen", c.near, err)
	}
}

// checking returns a check-and-insert of documents that has searched the index and has not decided yet.
func checking(t *testing.T, x *Index, docs ...rows.Doc) *checker {
	t.Helper()
	c := x.checkers.Get().(*checker)
	c.ctx, c.k, c.maxDocs = t.Context(), 3, 1
	must.Do(t, c.begin(docs))
	return c
}

// TestCheckAndInsertDuringAdd begins the search after an added segment has its numbers, and before readers see it.
// Its documents prevent inserts of their neighbours.
func TestCheckAndInsertDuringAdd(t *testing.T) {
	e := newClocked(t, time.Minute)
	var c *checker
	var o BuildOptions
	o.Progress = func(string, int, int) {
		if c == nil {
			c = checking(t, e.Index, rows.Doc{ID: "near", Fingerprint: 12345})
		}
	}
	must.Do(t, e.Add(t.Context(), []*ndf.File{printsFile(t, []rows.Doc{{ID: "added", Fingerprint: 12344}})}, o))
	if out, err := c.conclude(); err != nil || out[0].Inserted || out[0].ID != "added" {
		t.Errorf("%+v, %v: a near-duplicate was added meanwhile", out, err)
	}
}

// TestCheckAndInsertDuringRefusal undoes a document that a search has found, because the disk is full. It then
// prevents no insert, whether all or only some documents of the call had neighbours.
func TestCheckAndInsertDuringRefusal(t *testing.T) {
	for _, docs := range [][]rows.Doc{{{ID: "near", Fingerprint: 1}}, {{ID: "near", Fingerprint: 1},
		{ID: "far", Fingerprint: 0xff << 30}}} {
		var full atomic.Bool
		x, _ := refusing(t, &full)
		defer x.end()
		x.writer.mu.Lock()
		p := x.writer.prepare(&x.writer.pending)
		_, err := p.add(rows.Doc{ID: "undone"})
		position, failed := x.writer.commit(&p.change) // as during an insert that waits for the disk
		x.writer.mu.Unlock()
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		c := checking(t, x, docs...)
		if len(c.near[0].Near) != 1 {
			t.Fatalf("%+v", c.near)
		}
		full.Store(true)
		fails(t, "a full disk", x.writer.sync(t.Context(), position), syscall.ENOSPC)
		full.Store(false)
		out, err := c.conclude()
		if err != nil || len(out) != len(docs) {
			t.Fatal(out, err)
		}
		for i, o := range out {
			if !o.Inserted {
				t.Errorf("%d of %d: kept out by a document that was undone: %+v", i, len(docs), o)
			}
		}
	}
}

// TestCheckAndInsertTogether decides on near-duplicates at the same time, after all have searched and found
// nothing: one is inserted.
func TestCheckAndInsertTogether(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t)})
	for round := range simhash.Fingerprint(300) {
		oneOf(t, x, (round+1)*0x9e3779b97f4a7c15, func() {})
	}
}

// TestInsertIsAtomic inserts lists that do not fit in memory together. Each gets consecutive numbers. A list whose
// context ends while it waits is not inserted.
func TestInsertIsAtomic(t *testing.T) {
	t.Parallel()
	x, free := filled(t, Config{Design: halves(t)})
	defer free()
	before := x.Stats().Documents
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := x.Insert(ctx, make([]rows.Doc, 10))
	fails(t, "without room", err, context.DeadlineExceeded)
	if n := x.Stats().Documents; n != before {
		t.Errorf("%d documents, want %d", n, before)
	}
	free()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				out, err := x.Insert(t.Context(), someDocs(1+rand.IntN(3*smallDocs), 4))
				if err != nil {
					t.Error(err)
					return
				}
				for i, o := range out {
					if !o.Inserted || o.Doc != out[0].Doc+rows.DocID(i) {
						t.Errorf("document %d of a list has number %d, the first one %d", i, o.Doc, out[0].Doc)
						return
					}
				}
			}
		})
	}
	group.Wait()
	_, err = x.Insert(t.Context(), make([]rows.Doc, wal.RecordMax/8))
	fails(t, "more than a record holds", err, ErrTooMany)
}

// TestSealedLayout checks that flushed documents are in segments with the layout of the index and, except small
// ones, its design.
func TestSealedLayout(t *testing.T) {
	t.Parallel()
	want := map[rows.DocID]rows.Doc{}
	for i, d := range someDocs(filledDocs, 3) {
		want[rows.DocID(i)] = d
	}
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		x, free := filled(t, Config{Design: halves(t), Table: table.Options{Layout: layout}, IDs: true})
		free()
		must.Eventually(t, "few documents in memtables", func() bool { return x.Stats().Buffered < filledDocs/4 })
		if !maps.Equal(contents(t, x), want) {
			t.Errorf("%s: other documents", layout)
		}
		for _, s := range x.versions.Current().Segments {
			small := layout == table.LayoutPlanar && s.Documents() <= x.versions.Current().Documents()/smallShare
			if s.Layout() != layout || s.Segment.Design().Name != "halves" && !small {
				t.Errorf("%s, %s: want %s", s.Segment.Design().Name, s.Layout(), layout)
			}
		}
	}
}

// groupInput is the model of a group of fingerprints that are all near each other. At most one document of the group is
// stored, and it has an ID.
type groupInput struct {
	group int
	op    string // insert, delete, query
	id    string
}

type groupOutput struct{ holder string } // ID that was stored, or was deleted; empty for none

var groupModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		return partition(history, func(in any) int { return in.(groupInput).group })
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		held, in, out := state.(string), input.(groupInput), output.(groupOutput)
		switch in.op {
		case "insert":
			if held == "" {
				return out.holder == "", in.id
			}
			return out.holder == held, held
		case "delete":
			if held == in.id {
				return out.holder == in.id, ""
			}
			return out.holder == "", held
		}
		return out.holder == held, held
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// listInput is the model of a list of documents with the same fingerprint: the set of the stored ones.
type listInput struct {
	list int
	op   string // insert, delete, delete prefix, query
	mask uint64 // set of the documents
}

// listMasks are the documents that the prefix of each half of a list has.
var listMasks = [2]uint64{0xffffffff, 0xffffffff << 32}

func listID(list, n int) string { return fmt.Sprintf("list %d/%d/%d", list, n/32, n) }

var listModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		return partition(history, func(in any) int { return in.(listInput).list })
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		held, in, out := state.(uint64), input.(listInput), output.(uint64)
		switch in.op {
		case "insert": // returns the replaced documents
			return out == held&in.mask, held | in.mask
		case "query":
			return out == held, held
		}
		return out == uint64(bits.OnesCount64(held&in.mask)), held &^ in.mask
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %x", input, output) },
}

// askList makes one operation of the history of lists.
func askList(x *Index, in listInput, f simhash.Fingerprint) (out uint64, err error) {
	ctx := context.Background()
	var docs []rows.Doc
	var ids []string
	for n := range 64 {
		if in.mask>>n&1 == 1 {
			ids = append(ids, listID(in.list, n))
			docs = append(docs, rows.Doc{ID: listID(in.list, n), Fingerprint: f})
		}
	}
	deleted := 0
	switch in.op {
	case "insert":
		o, err := x.Insert(ctx, docs)
		for i := range o {
			if o[i].Replaced {
				var half, n int
				fmt.Sscanf(docs[i].ID, "list %d/%d/%d", new(int), &half, &n)
				out |= 1 << n
			}
		}
		return out, err
	case "delete":
		deleted, err = x.Delete(ctx, ids...)
		return uint64(deleted), err
	case "delete prefix":
		deleted, err = x.DeletePrefix(ctx, strings.TrimRight(ids[0], "0123456789"))
		return uint64(deleted), err
	}
	c := x.Searcher()
	defer c.Done()
	w, err := x.View()
	if err != nil {
		return 0, err
	}
	defer w.Release()
	a, err := c.Search(w, []uint64{uint64(f)}, 0, search.AllDocs, search.SweepResult{}, rows.Verifier{})
	if err != nil || len(a.Hits) == 0 {
		return 0, err
	}
	for _, doc := range a.Hits[0].Docs {
		id, err := c.ID(w, doc)
		if err != nil {
			return 0, err
		}
		var half, n int
		fmt.Sscanf(id, "list %d/%d/%d", new(int), &half, &n)
		out |= 1 << n
	}
	return out, nil
}

// partition cuts a history into one for each key.
func partition(history []porcupine.Operation, key func(input any) int) (parts [][]porcupine.Operation) {
	groups := map[int][]porcupine.Operation{}
	for _, o := range history {
		groups[key(o.Input)] = append(groups[key(o.Input)], o)
	}
	for _, list := range groups {
		parts = append(parts, list)
	}
	return parts
}

// TestLinearizable has many callers insert, check, delete and query, while flushes and merges run and the index is
// closed and opened. The answers are possible answers to one caller after another.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	seconds := time.Duration(long.Or(2, 6)) * time.Second
	const groups, lists, callers, rounds, minimum = 40, 3, 6, 3, 120
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Table: planar}))
	centre, listed := sets.Uniform(groups, 8), sets.Uniform(lists, 9)
	var mu sync.Mutex
	var history, ofLists []porcupine.Operation
	start := time.Now()
	for round := range rounds {
		x := openFolder(t, dir, OpenOptions{Write: true, NoSync: true, simulation: simulation{flushDocs: smallDocs}})
		ctx, cancel := context.WithTimeout(t.Context(), seconds/rounds)
		enough := func() bool { // a limit of time on slow machines
			mu.Lock()
			defer mu.Unlock()
			return t.Failed() || ctx.Err() != nil && len(history) >= minimum*(round+1)/rounds
		}
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(caller)))
				for n := 0; !enough(); n++ {
					if n%4 == 0 || caller >= callers/2 && n%2 == 0 {
						in := listInput{rng.IntN(lists), "query", rng.Uint64() | 1}
						if caller < callers/2 { // the others only query
							in.op = []string{"insert", "insert", "delete", "delete", "delete prefix"}[rng.IntN(5)]
						}
						if in.op == "delete prefix" {
							in.mask = listMasks[rng.IntN(2)]
						} else if rng.IntN(2) == 0 { // a single caller: its changes are visible in order
							in.mask = 1 << rng.IntN(64)
						}
						call := time.Since(start)
						out, err := askList(x, in, simhash.Fingerprint(listed[in.list]))
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						ofLists = append(ofLists, porcupine.Operation{ClientId: caller, Input: in, Call: int64(call), Output: out,
							Return: int64(time.Since(start))})
						mu.Unlock()
						continue
					}
					in := groupInput{group: rng.IntN(groups), op: []string{"insert", "insert", "delete", "query"}[rng.IntN(4)]}
					in.id = fmt.Sprint(in.group, "/", rng.IntN(4))
					f := simhash.Fingerprint(sets.Flip(rng, centre[in.group], 1))
					call := time.Since(start)
					out, err := ask(x, in, f)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					history = append(history, porcupine.Operation{ClientId: caller, Input: in, Call: int64(call), Output: out,
						Return: int64(time.Since(start))})
					mu.Unlock()
				}
			})
		}
		group.Go(func() { // seals, flushes and merges
			rng := rand.New(rand.NewPCG(uint64(round), 99))
			for n := 0; !enough(); n++ {
				docs := make([]rows.Doc, 1+rng.IntN(500))
				for i := range docs {
					docs[i] = rows.Doc{Fingerprint: simhash.Fingerprint(rng.Uint64()), ID: fmt.Sprint("filler ", rng.IntN(500_000))}
				}
				if _, err := x.Insert(context.Background(), docs); err != nil {
					t.Error(err)
					return
				}
			}
		})
		group.Wait()
		cancel()
		if round%2 == 0 {
			must.Do(t, x.Close())
		} else {
			must.Do(t, x.end())
		}
	}
	t.Logf("%d and %d operations", len(history), len(ofLists))
	for model, history := range map[*porcupine.Model][]porcupine.Operation{&groupModel: history, &listModel: ofLists} {
		if res, info := porcupine.CheckOperationsVerbose(*model, history, time.Minute); res != porcupine.Ok {
			path := filepath.Join(t.ArtifactDir(), "history.html")
			porcupine.VisualizePath(*model, info, path)
			t.Errorf("%v: see %s", res, path)
		}
	}
}

// ask makes one operation of the history.
func ask(x *Index, in groupInput, f simhash.Fingerprint) (out groupOutput, err error) {
	ctx := context.Background()
	switch in.op {
	case "insert":
		o, err := x.CheckAndInsert(ctx, []rows.Doc{{Fingerprint: f, ID: in.id}}, 2, 1)
		switch {
		case err != nil || o[0].Inserted && !o[0].Repeated:
			return out, err
		case o[0].Repeated:
			return groupOutput{in.id}, nil
		}
		return groupOutput{o[0].ID}, nil
	case "delete":
		n, err := x.Delete(ctx, in.id)
		if n > 0 {
			out.holder = in.id
		}
		return out, err
	}
	c := x.Searcher()
	defer c.Done()
	w, err := x.View()
	if err != nil {
		return out, err
	}
	defer w.Release()
	a, err := c.Search(w, []uint64{uint64(f)}, 2, 1, search.SweepResult{}, rows.Verifier{})
	if err != nil || len(a.Hits) == 0 {
		return out, err
	}
	out.holder, err = c.ID(w, a.Hits[0].Docs[0])
	return out, err
}
