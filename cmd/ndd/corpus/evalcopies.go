package corpus

import (
	"context"
	"io"
	"math"
	"slices"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/near/eval"
	"example.org/ndd/engine/near/shingle"
)

// checkCopies checks --copies and flags that exclude it, and returns the options of each method.
func (f *evalFlags) checkCopies(g *cli.Files) (methods []copies.Options, err error) {
	// Check the flags.
	if !g.Given["copies"] {
		return nil, g.RejectFlags("needs --copies", "method-file")
	}
	if len(f.copies) == 0 {
		return nil, cli.Usagef("--copies is empty: it must be spotsigs, ccdet, winnow or shingles")
	}
	if f.pairs == "" {
		return nil, cli.Usagef("--copies needs --pairs: it measures labelled pairs")
	}
	if err := g.RejectFlags("has no effect with --copies", "recipe", "compare", "verify", "sample",
		"sample-pairs"); err != nil {
		return nil, err
	}
	// Read the settings.
	method := copies.Auto // settings of any method
	if len(f.copies) == 1 {
		method = copies.Method(f.copies[0])
	}
	o, err := f.methodFile.Signatures(method, copies.Options{})
	if err != nil {
		return nil, err
	}
	if err := f.methodFile.Join(&o); err != nil {
		return nil, err
	}
	// Make the options of each method.
	for i, name := range f.copies {
		if o.Method, err = copies.ParseMethod(name); err != nil || o.Method == copies.Auto {
			return nil, cli.Usagef("--copies %q: must be spotsigs, ccdet, winnow or shingles", name)
		}
		if slices.Contains(f.copies[:i], name) {
			return nil, cli.Usagef("--copies %s is given twice", name)
		}
		if _, err := copies.NewSigner(context.Background(), o); err != nil {
			return nil, cli.Usagef("%w", err)
		}
		methods = append(methods, o)
	}
	return methods, nil
}

// measureCopies measures methods of finding copies over their thresholds.
func (f *evalFlags) measureCopies(ctx context.Context, g *cli.Files, c *eval.Corpus, pairs []eval.Pair,
	methods []copies.Options, dir cli.Folder) error {
	var scorings []eval.Scoring
	for i := range methods {
		s, err := scoring(ctx, g.Threads, c, pairs, &methods[i])
		if err != nil {
			return err
		}
		scorings = append(scorings, s)
	}
	r := c.MeasureThresholds(pairs, scorings)
	if dir != nil {
		figures := map[string]io.WriterTo{}
		for method, chart := range r.Charts() {
			figures["thresholds-"+method+".svg"] = chart
		}
		if err := cli.WriteFigures(dir, figures); err != nil {
			return err
		}
	}
	if f.format == "json" {
		return g.WriteJSON(r)
	}
	return r.WriteText(g.Stdout)
}

// scoring returns the scores of pairs by a method.
func scoring(ctx context.Context, threads int, c *eval.Corpus, pairs []eval.Pair, o *copies.Options) (eval.Scoring, error) {
	m := o.Method
	s := eval.Scoring{Name: string(m), Threshold: o.ThresholdOf(m), Containment: m.Measure() == postings.Containment,
		Scores: make([]float64, len(pairs))}
	sets := make([][]uint64, c.Len())
	err := c.Each(ctx, threads, func(ctx context.Context) (func(int, string), error) {
		signer, err := copies.NewSigner(ctx, *o)
		return func(row int, text string) {
			if set := signer.Sign(text).Own; len(set) >= max(o.MinFeaturesOf(m), 1) {
				sets[row] = set
			}
		}, err
	})
	if err != nil {
		return s, err
	}
	finds := findingSignatures(sets, o)
	for i, p := range pairs {
		a, b := sets[p.A], sets[p.B]
		if a == nil || b == nil {
			s.Scores[i] = math.NaN()
			continue
		}
		if slices.Equal(a, b) || slices.ContainsFunc(a, func(hash uint64) bool {
			_, shared := slices.BinarySearch(b, hash)
			return shared && finds(hash)
		}) {
			s.Scores[i] = m.Measure().Similarity(len(a), len(b), shingle.Shared(a, b))
		}
	}
	return s, ctx.Err()
}

// findingSignatures returns a function that reports whether a signature finds candidates: whether the number of
// documents that have it is within min-df and max-df. Documents with equal sets count as one, as in a join.
func findingSignatures(sets [][]uint64, o *copies.Options) func(hash uint64) bool {
	j := o.JoinOptions(o.Method)
	distinct := slices.CompactFunc(slices.SortedFunc(slices.Values(sets), slices.Compare), slices.Equal)
	if j.MinDocuments <= 2 && len(distinct) <= j.MaxDocuments {
		return func(uint64) bool { return true } // no shared signature can be out of the limits
	}
	documents := map[uint64]int{}
	for _, set := range distinct {
		for _, hash := range set {
			documents[hash]++
		}
	}
	return func(hash uint64) bool { return j.Finds(documents[hash]) }
}
