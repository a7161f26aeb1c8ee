package eval

import (
	"context"
	"math"
	"math/rand/v2"

	"ndd/engine/near/cluster"
)

const (
	judgedMax    = 200_000 // pairs at each distance whose Jaccard is looked at; more are sampled
	unrelatedMax = 200_000 // random pairs that tell how many pairs of the corpus are unrelated

	right     = 0.5 // Jaccard of a pair that is rightly reported
	unrelated = 0.1 // and below which texts have nothing to do with each other
)

// reportedPair is a pair of documents within MaxK of each other.
type reportedPair struct {
	a, b     uint32
	distance uint8
	jaccard  float32
	right    bool
}

// reported is everything that a method reports of a corpus, sampled where it is very much.
type reported struct {
	counts Counts // pairs at exactly each distance
	judged [MaxK + 1][]reportedPair
}

// findReported finds all pairs of the first documents that a method reports, and judges them.
func findReported(ctx context.Context, c *Corpus, p finder, documents int, truth Truth) (*reported, error) {
	r := new(reported)
	// Reservoir sampling (Vitter's algorithm R): every pair of a distance is kept with the same
	// chance.
	random := rand.New(rand.NewPCG(1, 2))
	err := p.near(ctx, documents, func(a, b uint32, distance int) { r.add(random, a, b, distance) })
	if err != nil {
		return nil, err
	}
	for d := range r.judged {
		for i := range r.judged[d] {
			if i%4096 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			pair := &r.judged[d][i]
			j := c.Jaccard(int(pair.a), int(pair.b))
			pair.jaccard, pair.right = float32(j), j >= right
			if truth != nil {
				pair.right = truth[pairKey(c.ids[pair.a], c.ids[pair.b])] >= right
			}
		}
	}
	return r, nil
}

// add counts a pair and keeps it, or a sample.
func (r *reported) add(random *rand.Rand, a, b uint32, distance int) {
	r.counts[distance]++
	pair := reportedPair{a: a, b: b, distance: uint8(distance)}
	if kept := r.judged[distance]; len(kept) < judgedMax {
		r.judged[distance] = append(kept, pair)
	} else if i := random.IntN(r.counts[distance]); i < judgedMax {
		kept[i] = pair
	}
}

// shares returns how many pairs of each distance there are that pass verification and satisfy want,
// by the sample.
func (r *reported) shares(verify float64, want func(*reportedPair) bool) (number [MaxK + 1]float64) {
	for d, pairs := range r.judged {
		n := 0
		for i := range pairs {
			if float64(pairs[i].jaccard) >= verify && want(&pairs[i]) {
				n++
			}
		}
		if n > 0 {
			number[d] = float64(n) / float64(len(pairs)) * float64(r.counts[d])
		}
	}
	return number
}

// precision returns the share of right pairs among those reported within each k.
func (r *reported) precision(documents int, verify float64) Precision {
	var p Precision
	largest := r.largestCluster(documents, verify)
	for _, in := range largest {
		if in {
			p.LargestSize++
		}
	}
	inside := func(x *reportedPair) bool { return largest[x.a] && largest[x.b] }
	all := r.shares(verify, func(*reportedPair) bool { return true })
	good := r.shares(verify, func(x *reportedPair) bool { return x.right })
	rest := r.shares(verify, func(x *reportedPair) bool { return !inside(x) })
	goodRest := r.shares(verify, func(x *reportedPair) bool { return x.right && !inside(x) })
	var sums [4]float64
	for k := range p.Share {
		for i, n := range []float64{all[k], good[k], rest[k], goodRest[k]} {
			sums[i] += n
		}
		p.Reported[k] = int(math.Round(sums[0]))
		p.Share[k], p.ShareRest[k] = ratio(sums[1], sums[0]), ratio(sums[3], sums[2])
		p.Sampled[k] = len(r.judged[k])
	}
	return p
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// largestCluster returns which documents are in the largest cluster that right pairs connect.
func (r *reported) largestCluster(documents int, verify float64) []bool {
	sets := cluster.NewUnionFind(make([]uint32, documents))
	for _, pairs := range r.judged {
		for i := range pairs {
			if x := &pairs[i]; x.right && float64(x.jaccard) >= verify {
				sets.Union(uint32(x.a), uint32(x.b))
			}
		}
	}
	size, best := make([]int, documents), uint32(0)
	for i := range sets {
		root := sets.Find(uint32(i))
		size[root]++
		if size[root] > size[best] {
			best = root
		}
	}
	in := make([]bool, documents)
	for i := range in {
		in[i] = size[best] > 1 && sets.Find(uint32(i)) == best
	}
	return in
}

// unrelated returns how often texts that have nothing to do with each other are within each k.
func (r *reported) unrelated(c *Corpus, rows []uint32, verify, n float64) Unrelated {
	u := Unrelated{N: n}
	if len(rows) < 2 {
		for k := range u.Within {
			u.PerBillion[k], u.PerQuery[k] = math.NaN(), math.NaN()
		}
		return u
	}
	random := rand.New(rand.NewPCG(3, 4))
	apart, looked := 0, min(unrelatedMax, len(rows)*min(len(rows), 1<<10)) // in 32 bits, too
	for range looked {
		i := random.IntN(len(rows))
		j := (i + 1 + random.IntN(len(rows)-1)) % len(rows)
		if c.Jaccard(int(rows[i]), int(rows[j])) < unrelated {
			apart++
		}
	}
	u.Pairs = float64(len(rows)) * float64(len(rows)-1) / 2 * float64(apart) / float64(looked)
	within := r.shares(verify, func(x *reportedPair) bool { return x.jaccard < unrelated })
	sum := 0.0
	for k := range u.Within {
		sum += within[k]
		u.Within[k] = sum
		share := ratio(sum, u.Pairs)
		u.PerBillion[k], u.PerQuery[k] = 1e9*share, n*share
	}
	return u
}

// figure returns the paper's figure 1: every distance weighs the same.
func (r *reported) figure() (f Figure) {
	var near, known [MaxK + 1]float64 // shares of the pairs at each distance
	total := 0.0
	for d, pairs := range r.judged {
		for i := range pairs {
			switch j := float64(pairs[i].jaccard); {
			case bandOf(j) == Near:
				near[d]++
				known[d]++
			case !pairs[i].right:
				known[d]++
			}
		}
		if len(pairs) > 0 {
			near[d] /= float64(len(pairs))
			known[d] /= float64(len(pairs))
		}
		if d > 0 {
			total += near[d]
		}
	}
	f.Precision[0], f.Recall[0] = math.NaN(), math.NaN()
	sumNear, sumKnown := 0.0, 0.0
	for k := 1; k <= MaxK; k++ {
		sumNear += near[k]
		sumKnown += known[k]
		f.Precision[k], f.Recall[k] = ratio(sumNear, sumKnown), ratio(sumNear, total)
	}
	return f
}
