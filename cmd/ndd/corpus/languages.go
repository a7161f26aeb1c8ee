package corpus

import (
	"context"
	"slices"
	"strings"

	"ndd/cmd/ndd/cli"
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
