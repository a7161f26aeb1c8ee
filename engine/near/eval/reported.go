package eval

import (
	"context"
	"math"
	"math/rand/v2"
)

const (
	judgedMax = 200_000 // pairs at each distance that are all judged; of more, ever fewer
	right     = 0.5     // Jaccard of a pair that is rightly reported
)

// reported is everything that a method reports of a corpus, by exact distance.
type reported struct {
	counts Counts // pairs
	judged Counts // of these, pairs whose Jaccard was looked at

	// How many pairs there are by those that were judged: in all, that pass verification, of these right
	// ones, and of all near ones and wrong ones.
	all, verified, right, near, wrong [MaxK + 1]float64
}

// findReported finds all pairs of the first documents that a method reports, and judges them.
func findReported(ctx context.Context, c *Corpus, p *prints, documents int, verify float64) (*reported, error) {
	r, random := new(reported), rand.New(rand.NewPCG(1, 2))
	return r, p.near(ctx, documents, func(a, b uint32, distance int) {
		if weight := r.weight(random, distance); weight > 0 {
			r.judge(distance, weight, c.Jaccard(int(a), int(b)), verify)
		}
	})
}

// weight counts a pair and returns how many pairs it stands for, 0 if it is not judged: of n pairs at its
// distance so far, it is judged with the chance judgedMax / n.
func (r *reported) weight(random *rand.Rand, distance int) float64 {
	r.counts[distance]++
	chance := min(judgedMax/float64(r.counts[distance]), 1)
	if chance < 1 && random.Float64() >= chance {
		return 0
	}
	r.judged[distance]++
	return 1 / chance
}

func (r *reported) judge(d int, weight, jaccard, verify float64) {
	r.all[d] += weight
	if jaccard >= verify {
		r.verified[d] += weight
		if jaccard >= right {
			r.right[d] += weight
		}
	}
	if bandOf(jaccard) == Near {
		r.near[d] += weight
	} else if jaccard < right {
		r.wrong[d] += weight
	}
}

// precision returns the share of right pairs among those reported within each k.
func (r *reported) precision() (p Precision) {
	sum, good := 0.0, 0.0
	for k := range p.Share {
		if r.all[k] > 0 {
			each := float64(r.counts[k]) / r.all[k]
			sum, good = sum+each*r.verified[k], good+each*r.right[k]
		}
		p.Reported[k], p.Share[k], p.Sampled[k] = int(math.Round(sum)), ratio(good, sum), r.judged[k]
	}
	return p
}

// figure returns precision and recall as figure 1 of the paper has them: every distance has the same weight.
func (r *reported) figure() (f Figure) {
	near, known, judged := 0.0, 0.0, 0
	for k := range f.Recall {
		if r.all[k] > 0 {
			share := (r.near[k] + r.wrong[k]) / r.all[k]
			near, known = near+r.near[k]/r.all[k], known+share
			judged += int(math.Round(share * float64(r.judged[k])))
		}
		f.Precision[k], f.Recall[k], f.Judged[k] = ratio(near, known), near, judged
	}
	for k := range f.Recall {
		f.Recall[k] = ratio(f.Recall[k], near)
	}
	return f
}
