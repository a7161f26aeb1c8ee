package dedup

import (
	"cmp"
	"fmt"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/permute"
)

// settings are the checked flags about the inputs.
type settings struct {
	inputs       []string
	fingerprints bool // the inputs are fingerprint files

	finding     dedup.Options
	readOptions dedup.ReadOptions
}

func newSettings(g *cli.Files, f *flags, inputs []string) (s *settings, err error) {
	s = &settings{}
	if err := cli.ReadOnce(inputs); err != nil {
		return nil, err
	}
	if s.inputs, err = g.MatchFingerprints(inputs); err != nil {
		return nil, err
	}
	if s.fingerprints, err = g.HaveFingerprints(s.inputs, f.docs.Format != string(format.Auto)); err != nil {
		return nil, err
	}
	if s.fingerprints {
		err := g.RejectFlags("applies only to documents; fingerprint files have no texts", cli.DocumentFlagNames...)
		if err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*cli.Files, *flags) error{s.setDecision, s.setOrder, s.checkFormat, s.setMemory,
		s.checkPlaces} {
		if err := step(g, f); err != nil {
			return nil, err
		}
	}
	s.readOptions.Open, s.readOptions.Disk, s.readOptions.Threads = g.FingerprintOptions(), g.Disk, g.Threads
	s.readOptions.Find, s.readOptions.Copies = s.finding, !f.dryRun && f.writeKept+f.annotate != ""
	s.readOptions.Sketches = f.work != "" || len(s.finding.Rule) > 0 && s.finding.Texts == nil // a later run may compare them
	return s, nil
}

// aloneK is the default distance if fingerprints decide alone. Otherwise it is cli.DefaultK.
const aloneK = 3

// The values of --verify that are no rules.
const (
	verifySketch = "sketch"
	verifyText   = "text"
	verifyExact  = "exact"
)

// readsTexts reports whether texts are read a second time, to compare them.
func (f *flags) readsTexts() bool { return f.verify != verifySketch && f.verify != verifyExact }

// setDecision sets when documents are duplicates: the distance, and how pairs are verified.
func (s *settings) setDecision(g *cli.Files, f *flags) (err error) {
	s.finding = dedup.Options{K: f.distance, Exact: f.verify == verifyExact}
	switch {
	case s.finding.Exact:
		s.finding.K = 0
		return g.RejectFlags("cannot be combined with --verify exact, which compares only whole texts", "distance", "threshold",
			"against", "recipe")
	case f.distance < 0 || f.distance > permute.MaxK:
		return cli.Usagef("-k %d: must be 0 to %d", f.distance, permute.MaxK)
	}
	if err := f.threshold.Check(); err != nil {
		return err
	}
	if f.threshold > 0 {
		s.finding.Rule = dedup.Rule{{Jaccard: float64(f.threshold)}}
	}
	if f.readsTexts() {
		err = s.setTexts(g, f)
	}
	if len(s.finding.Rule) == 0 && !f.changed("distance") {
		s.finding.K = aloneK
	}
	return err
}

// setTexts sets the rule by which texts are compared, for --verify.
func (s *settings) setTexts(g *cli.Files, f *flags) (err error) {
	s.finding.Texts = &dedup.Texts{}
	if len(f.against) > 0 {
		return cli.Usagef("--verify compares texts, and %s has none: leave it out to compare sketches", f.againstNames())
	}
	if f.verify == verifyText {
		if f.threshold == 0 {
			return cli.Usagef("--verify text needs a --threshold above 0")
		}
		return nil
	}
	if s.finding.Rule, err = dedup.ParseRule(f.verify); err != nil {
		return cli.Usagef("--verify %w; the other values are sketch, text and exact", err)
	}
	return g.RejectFlags("applies to sketches and to --verify text; a rule has its own numbers", "threshold")
}

// setOrder sets which document of a cluster is kept, by the flags for that, for sources and for URLs.
func (s *settings) setOrder(_ *cli.Files, f *flags) error {
	order := f.keep
	if s.finding.Rule.ByContainment() && !f.changed("keep") {
		order = "longest" // a contained document is shorter
	}
	keepOrder, err := keep.Parse(order)
	if err != nil {
		return cli.Usagef("--keep %w", err)
	}
	switch {
	case !f.changed("same-url"):
	case s.fingerprints:
		return cli.Usagef("--same-url applies only to documents; fingerprint files have no URLs")
	case f.sameURL == "":
		return cli.Usagef("--same-url= names no field")
	case f.sameURL == dedup.URLFields[0]:
		s.readOptions.SameURL = dedup.URLFields
	default:
		s.readOptions.SameURL = []string{f.sameURL}
	}
	s.readOptions.Source, s.readOptions.Keep, err = f.sources.options(keepOrder, s.fingerprints)
	return err
}

// checkFormat checks the format of the result. The error for a format of documents names --input-format.
func (s *settings) checkFormat(g *cli.Files, f *flags) error {
	err := f.format.Check(g, f.out)
	if err == nil {
		return nil
	}
	if _, known := format.ParseFormat(f.format.Name); known == nil && f.format.Format == 0 {
		return fmt.Errorf("%w; --input-format says how documents are read", err)
	}
	return err
}

// setMemory sets the limits of memory, and has them reported.
func (s *settings) setMemory(g *cli.Files, f *flags) (err error) {
	budget, err := g.Budget(f.memory)
	if err != nil {
		return err
	}
	s.readOptions.Budget = budget
	if t := s.finding.Texts; t != nil {
		t.Memory = int64(min(budget.Free()/4, dedup.TextMemory))
	}
	return nil
}

// checkPlaces refuses pipes that would have to be read twice, and outputs that are no folders.
func (s *settings) checkPlaces(g *cli.Files, f *flags) error {
	// Outputs that need texts read the inputs again.
	verify := ""
	if f.readsTexts() {
		verify = f.verify
	}
	for _, output := range []struct{ flag, value string }{{"--verify", verify}, {"--write-kept", f.writeKept},
		{"--annotate", f.annotate}, {"--report", f.report}} {
		switch {
		case output.value == "":
		case output.value == input.Stdin:
			return cli.Usagef("%s -: it is a folder, and cannot be standard output", output.flag)
		case !s.fingerprints:
			if err := cli.ReadTwice(output.flag, s.inputs); err != nil {
				return err
			}
		case output.flag != "--report":
			return cli.Usagef("%s needs documents; fingerprint files have no texts", output.flag)
		}
	}
	// Refuse other flags that do not fit the inputs or the output.
	if f.work != "" && s.fingerprints {
		return cli.Usagef("--work stores the fingerprints of documents; fingerprint files need no such folder")
	}
	if err := g.CheckWork(f.work, s.inputs); err != nil {
		return err
	}
	if f.out == input.Stdin {
		return cli.Usagef("-o -: the result is a folder; without -o, clusters are printed on standard output")
	}
	if copies := cmp.Or(f.writeKept, f.annotate); g.Given["format"] && f.out == "" && copies != "" {
		return cli.Usagef("--format applies to tables and printed clusters, and with copies in %s there are none: give -o, too", copies)
	}
	return nil
}
