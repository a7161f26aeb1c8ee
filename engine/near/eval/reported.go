package eval

import (
	"context"
	"math"
	"math/rand/v2"
)

const (
	judgedMax = 200_000 // number of pairs at a distance that are all judged; of more, a sample is judged
	right     = 0.5     // minimum Jaccard of a pair that is rightly reported
)

// A reportCount counts the pairs that a method reports, by exact distance.
type reportCount struct {
	counts Counts // pairs
	judged Counts // pairs with a measured Jaccard

	// Numbers of pairs, estimated from the judged ones: all pairs; verified pairs and the right ones among them; near
	// and wrong ones among all.
	all, verified, right, near, wrong [MaxK + 1]float64
}

// findReported finds and judges all pairs of the first documents that a method reports.
func findReported(ctx context.Context, c *Corpus, p *fingerprints, documents int) (*reportCount, error) {
	r, random := new(reportCount), rand.New(rand.NewPCG(1, 2))
	return r, p.nearPairs(ctx, documents, func(a, b uint32, distance int) {
		if weight := r.weight(random, distance); weight > 0 {
			r.judge(distance, weight, c.Jaccard(int(a), int(b)), p.verified(int(a), int(b)))
		}
	})
}

// weight counts a pair and returns its weight, the number of pairs that it represents. It is judged with the
// probability judgedMax / n if it is the n-th pair at its distance. Otherwise its weight is 0.
func (r *reportCount) weight(random *rand.Rand, distance int) float64 {
	r.counts[distance]++
	chance := min(judgedMax/float64(r.counts[distance]), 1)
	if chance < 1 && random.Float64() >= chance {
		return 0
	}
	r.judged[distance]++
	return 1 / chance
}

func (r *reportCount) judge(d int, weight, jaccard float64, verified bool) {
	r.all[d] += weight
	if verified {
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

// precision returns the share of right pairs among the reported pairs within each k.
func (r *reportCount) precision() (p Precision) {
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

// figure returns precision and recall as in figure 1 of the paper: every distance has the same weight.
func (r *reportCount) figure() (f Figure) {
	near, known := 0.0, 0.0
	for k := range f.Recall {
		if r.all[k] > 0 {
			near, known = near+r.near[k]/r.all[k], known+(r.near[k]+r.wrong[k])/r.all[k]
		}
		f.Precision[k], f.Recall[k] = ratio(near, known), near
	}
	for k := range f.Recall {
		f.Recall[k] = ratio(f.Recall[k], near)
	}
	return f
}
