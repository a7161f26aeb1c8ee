package eval

import (
	"context"
	"math"
	"math/rand/v2"
)

const (
	judgedMax = 200_000 // pairs at each distance whose Jaccard is looked at; more are sampled
	right     = 0.5     // Jaccard of a pair that is rightly reported
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
func findReported(ctx context.Context, c *Corpus, p *prints, documents int) (*reported, error) {
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
func (r *reported) precision(verify float64) (p Precision) {
	all := r.shares(verify, func(*reportedPair) bool { return true })
	good := r.shares(verify, func(x *reportedPair) bool { return x.right })
	var sumAll, sumGood float64
	for k := range p.Share {
		sumAll, sumGood = sumAll+all[k], sumGood+good[k]
		p.Reported[k], p.Share[k], p.Sampled[k] = int(math.Round(sumAll)), ratio(sumGood, sumAll), len(r.judged[k])
	}
	return p
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
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
