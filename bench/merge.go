package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
	"ndd/permute"
)

// written counts what is written to the disk, and what of it to logs.
type written struct{ bytes, log atomic.Int64 }

func (*written) Before(*disk.Op) error { return nil }
func (w *written) After(op *disk.Op) {
	w.bytes.Add(int64(len(op.Data)))
	if filepath.Ext(op.Path) == ".log" {
		w.log.Add(int64(len(op.Data)))
	}
}

// grow inserts into an index and merges it, and measures queries before, meanwhile and behind; what
// is written and how much room it takes on the disk; and how long opening takes. In the end the
// index answers as a linear scan does.
func grow(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("grow")
	if err != nil {
		return err
	}
	defer remove()
	g := &growing{b: b, r: r, dir: filepath.Join(dir, "index"), base: sets.Uniform(b.n, 1), budget: (*memory.Budget)(nil).Here()}
	path := filepath.Join(dir, "base.bin")
	if err := os.WriteFile(path, store.Bytes64(g.base), 0o644); err != nil {
		return err
	}
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		return err
	}
	x, err := buildIndex(ctx, g.dir, path, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	if err != nil {
		return err
	}
	x.Close()
	r.Columns = []string{"query ns", "99 % below us", "B/fingerprint", "segments"}
	return g.run(ctx)
}

// A growing is one run of it.
type growing struct {
	b       *bench
	r       *Result
	dir     string
	base    []uint64
	logged  []uint64 // inserted when all was merged
	written written
	budget  *memory.Budget // from which merges reserve
	x       *engine.Index
}

func (g *growing) open(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	g.x, err = engine.Open(ctx, g.dir, engine.OpenOptions{Write: true, Sync: wal.Never, Disk: disk.Hooked(&g.written), Verify: engine.VerifyFast, Budget: g.budget})
	return time.Since(began), err
}

func (g *growing) run(ctx context.Context) error {
	if _, err := g.open(ctx); err != nil {
		return err
	}
	defer func() { g.x.Close() }()
	if err := g.row(ctx, "as it was built", nil); err != nil {
		return err
	}
	idle, err := treeBytes(g.dir)
	if err != nil {
		return err
	}
	g.written.bytes.Store(0)
	g.written.log.Store(0)
	added := sets.Uniform(g.b.inserts(), 2)
	peak := &folderPeak{dir: g.dir}
	stop := watch(peak.look)
	err = g.during(ctx, "while it is inserted into", func() error { return insertAll(ctx, g.x, added) })
	if err != nil {
		stop()
		return err
	}
	if err := peak.without(func() error { return g.row(ctx, "after the inserts", nil) }); err != nil {
		stop()
		return err
	}
	if err := g.x.Live().Flush(ctx); err != nil {
		return err
	}
	for g.x.Live().Merging() {
		time.Sleep(time.Millisecond)
	}
	if err := peak.without(func() error { return g.row(ctx, "in tiers", nil) }); err != nil {
		stop()
		return err
	}
	byInserts, log := g.written.bytes.Load(), g.written.log.Load()
	taken := &budgetPeak{budget: g.budget}
	stopTaken := watch(taken.look)
	err = g.during(ctx, "while all is merged", func() error { return g.x.Live().Merge(ctx, 1) })
	stopTaken()
	stop()
	if err != nil {
		return err
	}
	if err := g.row(ctx, "merged", nil); err != nil {
		return err
	}
	total, err := treeBytes(g.dir)
	if err != nil {
		return err
	}
	size := float64(total) / float64(g.b.n+len(added))
	perDoc := func(bytes int64) float64 { return float64(bytes) / float64(len(added)) }
	g.r.note("%s inserts into %s fingerprints, k = %d, two planar tables, no sync; queries by one thread", humanize.Comma(int64(len(added))), humanize.Comma(int64(g.b.n)), distance)
	g.r.note("written by inserts, flushes and merges in tiers: %.1f bytes a document, %.1f of it to the log, which is %.1f times the %.1f bytes that a document has in the end; with the last merge, of the base too, %.1f bytes",
		perDoc(byInserts), perDoc(log), perDoc(byInserts)/size, size, perDoc(g.written.bytes.Load()))
	g.r.note("memory of the last merge: %s reserved before it begins; building as many takes up to %s", humanize.IBytes(taken.most.Load()),
		humanize.IBytes(segment.NeedBytes(uint64(g.b.n+len(added)), segment.Options{Design: g.x.Live().Config().Design, Threads: 1})))
	g.r.note("disk: %s before, %s after, %s at most meanwhile, %.2f times what is there in the end", humanize.IBytes(idle), humanize.IBytes(total), humanize.IBytes(peak.most.Load()), float64(peak.most.Load())/float64(total))
	if err := g.reopen(ctx); err != nil {
		return err
	}
	all := slices.Concat(g.base, added, g.logged)
	g.r.note("verified: 50 queries of the merged index against a linear scan")
	return verifyIndex(ctx, g.x, all, append(slices.Clone(added[:25]), sets.Uniform(25, 3)...))
}

// reopen stops and opens the index, and opens a copy of what stands on the disk after more inserts, as if the process had
// ended then.
func (g *growing) reopen(ctx context.Context) error {
	if err := g.x.Close(); err != nil {
		return err
	}
	took, err := g.open(ctx)
	if err != nil {
		return err
	}
	g.r.note("opened in %v after a clean stop, with --verify fast", took.Round(100*time.Microsecond))
	g.logged = sets.Uniform(min(g.b.inserts(), 1_000_000), 4) // more are flushed
	for _, f := range g.logged {
		if _, err := g.x.Insert(ctx, engine.Doc{Fingerprint: simhash.Fingerprint(f)}); err != nil {
			return err
		}
	}
	ended := g.dir + ".ended"
	if err := os.CopyFS(ended, os.DirFS(g.dir)); err != nil {
		return err
	}
	began := time.Now()
	x, err := engine.Open(ctx, ended, engine.OpenOptions{Write: true, Sync: wal.Never, Verify: engine.VerifyFast})
	if err != nil {
		return err
	}
	defer x.Close()
	took = time.Since(began)
	if n := x.Stats().Unflushed; n != uint64(len(g.logged)) {
		return fmt.Errorf("%d documents of the log are there, want %d", n, len(g.logged))
	}
	g.r.note("opened in %v with %s documents in the log, one a record: %.1f million a second", took.Round(time.Millisecond), humanize.Comma(int64(len(g.logged))), float64(len(g.logged))/took.Seconds()/1e6)
	return nil
}

// row measures queries, alone or while something else goes on.
func (g *growing) row(ctx context.Context, name string, done <-chan struct{}) error {
	g.b.say("%s", name)
	rng := rand.New(rand.NewPCG(uint64(len(g.r.Rows)), 5))
	most := onlineQueries * g.b.rounds
	if done != nil {
		most = 1 << 22
	}
	var times []time.Duration
	for len(times) < most {
		q := simhash.Fingerprint(rng.Uint64())
		if len(times)%2 == 0 {
			q = simhash.Fingerprint(g.base[rng.IntN(len(g.base))])
		}
		began := time.Now()
		if _, err := g.x.Query(ctx, q, distance, 0); err != nil {
			return err
		}
		times = append(times, time.Since(began))
		select {
		case <-done:
			done, most = nil, min(len(times), most)
		default:
		}
	}
	slices.Sort(times)
	s := g.x.Stats()
	g.r.row(name, number(float64(times[len(times)/2].Nanoseconds())), number(float64(times[len(times)*99/100].Nanoseconds())/1e3),
		number(float64(s.TableBytes)/float64(s.Fingerprints)), number(float64(s.Segments)))
	return nil
}

// during measures queries while something is done.
func (g *growing) during(ctx context.Context, name string, do func() error) error {
	done, failed := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		failed = do()
	}()
	if err := g.row(ctx, name, done); err != nil {
		<-done
		return err
	}
	<-done
	return failed
}

// insertAll inserts fingerprints, some at a time.
func insertAll(ctx context.Context, x *engine.Index, prints []uint64) error {
	for list := range slices.Chunk(prints, 512) {
		docs := make([]engine.Doc, len(list))
		for i, f := range list {
			docs[i].Fingerprint = simhash.Fingerprint(f)
		}
		if _, err := x.Insert(ctx, docs...); err != nil {
			return err
		}
	}
	return nil
}

// folderPeak watches how large a folder becomes.
type folderPeak struct {
	dir    string
	most   atomic.Uint64
	paused atomic.Bool
}

// without does something meanwhile that looking at the folder would disturb.
func (p *folderPeak) without(do func() error) error {
	p.paused.Store(true)
	defer p.paused.Store(false)
	return do()
}

// look looks once.
func (p *folderPeak) look() {
	if p.paused.Load() {
		return
	}
	if n, err := treeBytes(p.dir); err == nil {
		p.most.Store(max(p.most.Load(), n))
	}
}

// budgetPeak watches how much of a budget is taken beyond what was when it began.
type budgetPeak struct {
	budget *memory.Budget
	before uint64 // that was left
	most   atomic.Uint64
}

func (p *budgetPeak) look() {
	left := p.budget.Left()
	p.before = max(p.before, left)
	p.most.Store(max(p.most.Load(), p.before-left))
}

// watch looks every few milliseconds until the function that it returns is called.
func watch(look func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	look()
	go func() {
		defer close(ended)
		for {
			look()
			select {
			case <-end:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// treeBytes returns how large the files of a folder are.
func treeBytes(dir string) (sum uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // or it is gone already
			sum += uint64(info.Size())
		}
	}
	if sum == 0 {
		return 0, fmt.Errorf("%s: nothing in it", dir)
	}
	return sum, nil
}
