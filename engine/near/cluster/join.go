package cluster

import (
	"context"
	"math/bits"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
	"example.org/ndd/permute"
)

// joinForest calls link with enough pairs to connect all fingerprints within distance d.K of each other. Each call gets
// a fingerprint and some that are near it. joinForest may leave out pairs that other pairs connect, and may repeat
// pairs. Several goroutines call link, which may change the slice during the call. The design must have radius 0.
// Fingerprints may repeat: equal ones are near each other. If room is too small for all fingerprints, joinForest joins
// them in parts, and reads all of them again for each part. The meter, if not nil, counts fingerprints, once for each
// table.
func joinForest(ctx context.Context, in radix.Input, room []uint64, d permute.Design, threads int, m *Meter,
	link func(a uint64, neighbours []uint64)) error {
	pair := func(a, b uint64) { link(a, []uint64{b}) }
	return join(ctx, in, room, d, threads, joiner{emit: pair, link: link, meter: m})
}

// joinAll is join with space for all fingerprints. Without a link, emit gets every near pair once, in no order.
func joinAll(ctx context.Context, fingerprints []uint64, d permute.Design, threads int, j joiner) error {
	room, err := memory.Make[uint64](len(fingerprints))
	if err != nil {
		return err
	}
	defer room.Free()
	return join(ctx, radix.Chunks{fingerprints}, room.Data, d, threads, j)
}

// join joins each table of the design with a copy of j.
func join(ctx context.Context, in radix.Input, room []uint64, d permute.Design, threads int, j joiner) error {
	for t, tab := range d.Tables {
		if tab.Radius != 0 {
			panic("cluster: a join needs tables of radius 0")
		}
		j := j
		j.ctx, j.design, j.table, j.perm = ctx, &d, t, permute.New(tab.Mask)
		o := radix.Options{Mask: tab.Mask, Threads: threads}
		if err := radix.Buckets(ctx, room, in, o, tab.Leading(), j.buckets); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// joiner compares the keys in the buckets of one table.
type joiner struct {
	ctx    context.Context
	design *permute.Design
	table  int
	perm   permute.Permutation
	depth  int                                 // depth of nested joins within buckets
	emit   func(a, b uint64)                   // takes a near pair from its canonical table
	link   func(a uint64, neighbours []uint64) // takes pairs that connect a bucket, in any table; nil if all are wanted
	meter  *Meter                              // nil in joins within buckets
}

// buckets compares all pairs of each bucket. The kernel returns the keys with a near key after them in their bucket.
func (j *joiner) buckets(keys []uint64, ends []uint32) error {
	var rows [asm.NearBucketMax]uint32
	if j.meter != nil {
		j.meter.Compared.Add(int64(len(keys)))
	}
	f := spanningForest{k: j.design.K, link: j.linkKeys}
	from := uint32(0)
	for len(ends) > 0 {
		n, done := asm.NearRows(rows[:], keys, ends, from, j.design.K)
		j.joinRows(keys, ends, from, rows[:n], &f)
		if done == 0 {
			if err := j.joinLarge(keys[from:ends[0]]); err != nil {
				return err
			}
			done = 1
		}
		from = ends[done-1]
		ends = ends[done:]
	}
	return j.ctx.Err()
}

// forestRows is the number of keys with near pairs from which a forest connects a bucket. Below it, all pairs are
// compared.
const forestRows = 8

// joinRows handles the rows that have a near key after them in their buckets. It reports their pairs, or connects their
// bucket by a forest.
func (j *joiner) joinRows(keys []uint64, ends []uint32, from uint32, rows []uint32, f *spanningForest) {
	bucket := 0
	for len(rows) > 0 {
		for ends[bucket] <= rows[0] {
			from = ends[bucket]
			bucket++
		}
		neighbour := 1
		for neighbour < len(rows) && rows[neighbour] < ends[bucket] {
			neighbour++
		}
		if j.link != nil && neighbour >= forestRows {
			f.connect(keys[from:ends[bucket]])
		} else {
			for _, i := range rows[:neighbour] {
				for _, b := range keys[i+1 : ends[bucket]] {
					if bits.OnesCount64(keys[i]^b) <= j.design.K {
						j.reportKeys(keys[i], b)
					}
				}
			}
		}
		rows = rows[neighbour:]
	}
}

const (
	rejoinMin   = 4096 // keys of a bucket from which a join of it costs less than a comparison of all pairs
	rejoinDepth = 2    // maximum depth of nested joins; then all pairs are compared
)

// joinLarge compares all pairs of a bucket that is too large for the kernel. A corpus that is far from uniform has such
// buckets. The keys share the leading bits of this table, but may differ in the leading bits of other tables. So a very
// large bucket is joined by itself, with its own tables. If links suffice, a forest connects its dense parts first.
func (j *joiner) joinLarge(keys []uint64) error {
	rejoin := len(keys) >= rejoinMin && j.depth < rejoinDepth
	if j.link != nil {
		f := spanningForest{ctx: j.ctx, k: j.design.K, link: j.linkKeys}
		if rejoin {
			f.perKey = comparisonsPerKey
		}
		keys = f.connect(keys)
	}
	switch {
	case j.ctx.Err() != nil || len(keys) < 2:
		return j.ctx.Err()
	case rejoin:
		return j.rejoin(keys)
	}
	hits := make([]uint32, 1024)
	for i, a := range keys {
		if i%256 == 255 && j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		for others := keys[i+1:]; len(others) > 0; {
			n, done := asm.Within64(hits, others, a, j.design.K)
			for _, hit := range hits[:n] {
				j.reportKeys(a, others[hit])
			}
			others = others[done:]
		}
	}
	return nil
}

// rejoin joins a bucket by itself.
func (j *joiner) rejoin(keys []uint64) error {
	fingerprints := make([]uint64, len(keys))
	asm.Unpermute(fingerprints, keys, j.perm.Mask())
	inner := joiner{depth: j.depth + 1, emit: j.report, link: j.link}
	if j.link != nil {
		inner.emit = j.emit // report a pair here, even if another table finds it too
	}
	return joinAll(j.ctx, fingerprints, chooseForSample(fingerprints, len(fingerprints), j.design.K), 1, inner)
}

// reportKeys reports two keys if this table is the pair's canonical one.
func (j *joiner) reportKeys(a, b uint64) { j.report(j.perm.Invert(a), j.perm.Invert(b)) }

// report reports two fingerprints if this table is the pair's canonical one.
func (j *joiner) report(a, b uint64) {
	if j.design.First(a^b) == j.table {
		j.emit(min(a, b), max(a, b))
	}
}

// linkKeys reports a key and the keys near it, from any table.
func (j *joiner) linkKeys(a uint64, neighbours []uint64) {
	for i, b := range neighbours {
		neighbours[i] = j.perm.Invert(b)
	}
	j.link(j.perm.Invert(a), neighbours)
}
