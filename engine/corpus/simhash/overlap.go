package simhash

import (
	"cmp"
	"math"
	"slices"
)

// A Feature is a distinct feature of a text.
type Feature struct {
	Hash   uint64
	Weight uint32
}

// An Overlap measures which features two texts share. [Fingerprinter.AppendFeatures] returns the features.
type Overlap struct {
	Shared  int // number of shared features
	OnlyA   int
	OnlyB   int
	Jaccard float64 // shared weight / total weight; 1 without any features
	Cosine  float64 // cosine of the vectors of weights; 1 without any features
}

// OverlapOf compares two lists of features, which it sorts.
func OverlapOf(a, b []Feature) (o Overlap) {
	order := func(x, y Feature) int { return cmp.Compare(x.Hash, y.Hash) }
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	var dot, squareA, squareB, shared, all float64
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var u, v float64
		switch {
		case j == len(b) || i < len(a) && a[i].Hash < b[j].Hash:
			u = float64(a[i].Weight)
			i++
			o.OnlyA++
		case i == len(a) || b[j].Hash < a[i].Hash:
			v = float64(b[j].Weight)
			j++
			o.OnlyB++
		default:
			u, v = float64(a[i].Weight), float64(b[j].Weight)
			i++
			j++
			o.Shared++
		}
		dot += u * v
		squareA += u * u
		squareB += v * v
		shared += min(u, v)
		all += max(u, v)
	}
	o.Jaccard, o.Cosine = 1, 1
	if all > 0 {
		o.Jaccard, o.Cosine = shared/all, 0
	}
	if squareA > 0 && squareB > 0 {
		o.Cosine = min(dot/math.Sqrt(squareA*squareB), 1)
	}
	return o
}

// FlipRate returns the probability that a bit of the fingerprints of two texts differs, given the overlap of their
// features. It is (1 - J)/2 for minwise recipes and arccos(c)/pi for simhash recipes.
func (r *Recipe) FlipRate(o Overlap) float64 {
	if r.Sketch == SketchMinwise {
		return (1 - o.Jaccard) / 2
	}
	return math.Acos(o.Cosine) / math.Pi
}
