package eval

import (
	"bytes"
	"html/template"
	"io"
)

// page is the report: one file, without scripts or outside resources, that reads in light and dark.
var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"percent": func(c Curve, k int) string { return percent(&c)(k) },
	"precise": func(c Curve, k int) string { return precise(&c)(k) },
	"figures": func(c Curve, k int) string { return figures(&c)(k) },
	"number":  func(c Counts, k int) string { return number(&c)(k) },
}).Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>How well near-duplicates are found</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
svg { max-width: 100%; height: auto; }
code { overflow-wrap: anywhere; }
</style>
<h1>How well near-duplicates are found</h1>
<p>{{.Result.Documents}} documents, {{if .Result.Copies}}{{.Result.Copies}} edited copies of them{{else}}{{.Result.Pairs}} labelled pairs{{end}}. Shares are in %, for fingerprints within k bits of each other, or signatures of at least a similarity.
Pairs are near with a Jaccard of at least 0.8, revised from 0.5, heavy from 0.2 and low below.</p>
<figure>{{.Recall}}</figure>
<figure>{{.Figure}}</figure>
{{if .Signatures}}<figure>{{.Signatures}}</figure>
{{end}}{{$shown := .Shown}}{{range .Result.Methods}}
<h2>{{.Name}}</h2>
<p>{{if .Recipe}}<code>{{.Recipe}}</code>{{end}}{{if .Verify}}; pairs verified: Jaccard at least {{.Verify}}{{end}}{{if .TooShort}}; too short for a fingerprint: {{.TooShort}}{{end}}</p>
<div class="wide"><table>
{{$of := .}}<tr><th scope="col">{{.Axis}}</th>{{range $shown}}<th scope="col">{{$of.Level .}}</th>{{end}}</tr>
{{range .Recall}}{{$r := .}}{{if eq .Kind "different"}}<tr><th scope="row">{{.Name}}: false, of {{.Pairs}} pairs</th>{{range $shown}}<td>{{number $r.Found .}}</td>{{end}}</tr>
{{else}}<tr><th scope="row">{{.Name}}: found of {{.Pairs}} pairs</th>{{range $shown}}<td>{{percent $r.PerPair .}}</td>{{end}}</tr>
<tr><td>mean of {{.Groups}} groups</td>{{range $shown}}<td>{{percent $r.PerGroup .}}</td>{{end}}</tr>
<tr><td>without {{.Identical}} identical, mean of groups</td>{{range $shown}}<td>{{percent $r.PerGroupEdited .}}</td>{{end}}</tr>
<tr><td>expected of those not identical, by pair</td>{{range $shown}}<td>{{percent $r.Expected .}}</td>{{end}}</tr>
<tr><td>measured, by pair</td>{{range $shown}}<td>{{percent $r.PerPairEdited .}}</td>{{end}}</tr>
{{end}}{{end}}{{$m := .}}<tr><th scope="row">reported pairs</th>{{range $shown}}<td>{{number $m.Precision.Reported .}}</td>{{end}}</tr>
<tr><td>precision: Jaccard at least 0.5</td>{{range $shown}}<td>{{precise $m.Precision.Share .}}</td>{{end}}</tr>
<tr><td>without the largest cluster ({{.Precision.LargestSize}} documents)</td>{{range $shown}}<td>{{precise $m.Precision.ShareRest .}}</td>{{end}}</tr>
<tr><th scope="row">unrelated pairs reported, of 1e9</th>{{range $shown}}<td>{{figures $m.Unrelated.PerBillion .}}</td>{{end}}</tr>
</table></div>
{{end}}</html>
`))

// WriteHTML writes the result as one page of HTML with its charts in it. The error is that of w.
func (r *Result) WriteHTML(w io.Writer) error {
	var recall, figure, signatures bytes.Buffer
	if c := r.SignatureChart(); c != nil {
		if _, err := c.WriteTo(&signatures); err != nil {
			return err
		}
	}
	if _, err := r.RecallChart().WriteTo(&recall); err != nil {
		return err
	}
	if _, err := r.FigureChart().WriteTo(&figure); err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"Result": r, "Shown": shown,
		"Signatures": template.HTML(signatures.String()),
		"Recall":     template.HTML(recall.String()), "Figure": template.HTML(figure.String()), // of package plot, which escapes names
	})
}
