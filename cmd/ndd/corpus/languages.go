package corpus

import (
	"context"
	"slices"
	"strings"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/near/eval"
)

// evaluateLanguages measures invented texts.
func (f *evalFlags) evaluateLanguages(g *cli.Globals, ctx context.Context, o eval.Options) error {
	if err := g.Refuse("does not apply with --languages: its texts and pairs are invented", "pairs", "table",
		"plot", "report"); err != nil {
		return err
	}
	if slices.Equal(f.languages, []string{"all"}) {
		f.languages = eval.LanguageNames()
	}
	for _, name := range f.languages {
		if !slices.Contains(eval.LanguageNames(), name) {
			return cli.Usagef("--languages %q: must be all, or of %s", name, strings.Join(eval.LanguageNames(), ", "))
		}
	}
	if !g.Given["sample"] {
		f.sample = 100
	}
	if f.copies != nil {
		return f.evaluateCopies(g, ctx)
	}
	methods, err := f.methods(g)
	if err != nil {
		return err
	}
	o.Progress = func(name string) { g.Log.Debug("measuring " + name) }
	found, err := eval.MeasureLanguages(ctx, f.languages, f.sample, methods, o)
	switch {
	case err != nil:
		return err
	case f.format == "json":
		return g.WriteJSON(found)
	}
	return eval.WriteLanguages(g.Stdout, found)
}

// evaluateCopies measures methods of ndd copies on invented documents.
func (f *evalFlags) evaluateCopies(g *cli.Globals, ctx context.Context) error {
	if err := g.Refuse("is of fingerprints, which --copies with --languages does not measure", "compare", "recipe",
		"verify"); err != nil {
		return err
	}
	var found []eval.CopyResult
	for _, name := range f.copies {
		method, err := copies.ParseMethod(name)
		if err != nil {
			return cli.Usagef("--copies %q: %w", name, err)
		}
		results, err := eval.MeasureCopies(f.languages, f.sample, name, func(texts []string) (all []eval.CopyPair, err error) {
			signer, err := copies.NewSigner(copies.Options{Method: method})
			if err != nil {
				return nil, err
			}
			d := copies.NewDetector(copies.Options{Method: method, Threads: g.Threads})
			defer d.Close()
			for _, text := range texts {
				d.Add(signer.Sign(text))
			}
			pairs, _, err := d.Pairs(ctx)
			for _, p := range pairs {
				all = append(all, eval.CopyPair{A: p.A, B: p.B, Contains: p.Relation == copies.Contains,
					Contained: p.Relation == copies.Contained, Flagged: p.Flags.Has(copies.Common)})
			}
			return all, err
		})
		if err != nil {
			return err
		}
		found = append(found, results...)
	}
	if f.format == "json" {
		return g.WriteJSON(found)
	}
	return eval.WriteCopies(g.Stdout, found)
}
