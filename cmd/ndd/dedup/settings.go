package dedup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/format"
	"ndd/engine/corpus/input"
	"ndd/engine/near/cluster"
	"ndd/engine/near/dedup"
	"ndd/engine/near/keep"
	"ndd/engine/near/members"
	"ndd/engine/near/shingle"
	"ndd/engine/result"
	"ndd/permute"
)

// settings are what the flags say about the inputs, checked.
type settings struct {
	inputs       []string // without the files of 'ndd shingles'
	shingleFiles []string
	fingerprints bool   // the inputs are fingerprint files
	rule         string // for texts; "" where fingerprints decide alone

	finding dedup.Options
	reading dedup.ReadOptions
}

func newSettings(g *cli.Files, f *flags, inputs []string) (s *settings, err error) {
	s = &settings{}
	if err := cli.ReadOnce(inputs); err != nil {
		return nil, err
	}
	s.inputs, s.shingleFiles = withoutSets(inputs)
	if s.fingerprints, err = g.HaveFingerprints(s.inputs, f.docs.Format != string(format.Auto)); err != nil {
		return nil, err
	}
	if s.fingerprints {
		err := g.Refuse("applies only to documents; fingerprint files have no texts", cli.DocumentFlagNames...)
		if err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*cli.Files, *flags) error{s.setDecision, s.setOrder, s.checkFormat, s.setMemory, s.checkPlaces,
		s.compareInParts} {
		if err := step(g, f); err != nil {
			return nil, err
		}
	}
	s.reading.Open, s.reading.Disk, s.reading.Threads = g.FingerprintOptions(), g.Disk, g.Threads
	s.reading.Find, s.reading.Copies = s.finding, !f.dryRun && f.writeKept+f.annotate != ""
	return s, nil
}

// A level is the distance and the rule that a value of --quality means.
type level struct {
	k    int
	rule string
}

const balancedRule = "jaccard>=0.7"

// levels are the values of --quality.
var levels = map[string]level{"exact": {}, "fast": {3, ""}, "balanced": {6, balancedRule}, "thorough": {8, balancedRule}}

// setDecision sets when documents are duplicates: the distance, and the rule for texts.
func (s *settings) setDecision(g *cli.Files, f *flags) error {
	if f.quality == "exact" {
		if s.fingerprints {
			return cli.Usagef("--quality exact compares texts, and fingerprint files have none: give the documents")
		}
		if err := g.Refuse("cannot go with --quality exact, which compares nothing else than whole texts", "distance",
			"verify", "chains", "against", "against-docs", "recipe", "drop"); err != nil {
			return err
		}
	}
	l, err := s.level(g, f)
	if err != nil {
		return err
	}
	s.rule = l.rule
	s.finding = dedup.Options{K: l.k, Chains: f.chains, Exact: f.quality == "exact"}
	s.finding.Verify, err = s.verification(f)
	return err
}

// level returns the distance and the rule that were given or, where none was, those that fit the inputs: texts are
// compared if they can be read again. If they cannot, a message says so.
func (s *settings) level(g *cli.Files, f *flags) (level, error) {
	distance, verify, why := f.changed("distance"), f.changed("verify"), ""
	l, known := levels[f.quality]
	switch {
	case f.quality != "" && !known:
		return l, cli.Usagef("--quality %s: must be exact, fast, balanced or thorough", f.quality)
	case known && (distance || verify):
		return l, cli.Usagef("--quality stands for -k and --verify: leave it out to give these")
	case known:
	case distance || verify && f.verify == "":
		l = level{levels["fast"].k, f.verify}
	case verify:
		l = level{levels["balanced"].k, f.verify}
	case s.fingerprints && !s.inParts(f):
		l, why = levels["fast"], "fingerprint files have no texts"
	case slices.ContainsFunc(s.inputs, input.ReadOnce):
		l, why = levels["fast"], "a pipe is read once; documents in files are read again to compare their texts"
	case len(f.against) > 0 && len(f.againstDocs) == 0:
		l, why = levels["fast"], "--against has no texts; --against-docs names the documents that they were made from"
	default:
		l = levels["balanced"]
	}
	if distance {
		l.k = f.distance
	}
	if l.k < 0 || l.k > permute.MaxK {
		return l, cli.Usagef("-k %d: must be 0 to %d", l.k, permute.MaxK)
	}
	if why != "" {
		g.Log.Info(fmt.Sprintf("comparing fingerprints alone, with k = %d: %s", l.k, why))
	}
	return l, nil
}

// verification returns how texts are compared; nil if they are not.
func (s *settings) verification(f *flags) (*dedup.Verify, error) {
	if len(f.againstDocs) > 0 && (s.rule == "" || len(f.against) == 0 || slices.ContainsFunc(f.againstDocs,
		input.ReadOnce)) {
		return nil, cli.Usagef("--against-docs applies only with --against and --verify, and takes files, not pipes")
	}
	if s.rule == "" {
		return nil, nil
	}
	rule, err := dedup.ParseRule(s.rule)
	if err != nil {
		return nil, cli.Usagef("--verify %w", err)
	}
	if len(f.against) > 0 && len(f.againstDocs) == 0 {
		return nil, cli.Usagef("--verify needs the texts of the documents in %s, where there are only fingerprints: "+
			"give the files that they were made from with --against-docs", f.againstNames())
	}
	return &dedup.Verify{Rule: rule, Known: f.againstDocs}, nil
}

// setOrder sets which document of a cluster is kept, by the flags for that, for sources and for URLs.
func (s *settings) setOrder(_ *cli.Files, f *flags) error {
	order := f.keep
	if v := s.finding.Verify; v != nil && v.Rule.ByContainment() && !f.changed("keep") {
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
		s.reading.SameURL = dedup.URLFields
	default:
		s.reading.SameURL = []string{f.sameURL}
	}
	s.reading.Source, s.reading.Keep, err = f.sources.options(keepOrder, s.fingerprints)
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
	s.reading.Budget = budget
	if v := s.finding.Verify; v != nil {
		v.Memory = int64(min(budget.Left()/4, dedup.VerifyMemory))
	}
	s.reading.Say = func(n int, bytes uint64, spilled bool) {
		work, limit, more := "reading", budget.Limit(), ""
		if n > 0 {
			work = "comparing " + cli.Number(n, "document")
		}
		if spilled {
			more = " beside temporary files of what grows with their number"
		} else if n > cluster.DirectMax {
			more = fmt.Sprintf(" (%d bytes for each that is near another, if these are very many)", cluster.CandidateBytes)
		}
		g.Log.Debug(fmt.Sprintf("%s takes up to %s of memory%s, of %s (%s)", work, humanize.IBytes(budget.Total(bytes)), more,
			humanize.IBytes(limit.Bytes), limit.Source))
	}
	return nil
}

// checkPlaces refuses pipes that would have to be read twice, and outputs that are no folders.
func (s *settings) checkPlaces(g *cli.Files, f *flags) error {
	verify := "--verify"
	if f.quality != "" {
		verify = "--quality " + f.quality
	}
	for _, again := range []struct{ flag, value string }{{verify, s.rule}, {"--write-kept", f.writeKept},
		{"--annotate", f.annotate}, {"--report", f.report}} {
		switch {
		case again.value == "", s.fingerprints && again.flag == verify && s.inParts(f):
		case again.value == input.Stdin:
			return cli.Usagef("%s -: it is a folder, and cannot be standard output", again.flag)
		case !s.fingerprints:
			if err := cli.ReadTwice(again.flag, s.inputs); err != nil {
				return err
			}
		case again.flag != "--report":
			return cli.Usagef("%s needs documents; fingerprint files have no texts", again.flag)
		}
	}
	if f.work != "" && s.fingerprints {
		return cli.Usagef("--work keeps what is read of documents; fingerprint files hold that already")
	}
	if err := g.CheckWork(f.work, s.inputs); err != nil {
		return err
	}
	if f.out == input.Stdin {
		return cli.Usagef("-o -: the result is a folder; without -o, clusters are printed on standard output")
	}
	if copies := cmp.Or(f.writeKept, f.annotate); g.Given["format"] && f.out == "" && copies != "" {
		return cli.Usagef("--format is for clusters, which are not printed beside the copies in %s: give -o, too", copies)
	}
	return nil
}

// inParts reports whether texts are compared in parts.
func (s *settings) inParts(f *flags) bool { return f.members != "" || len(s.shingleFiles) > 0 }

// compareInParts checks --members and files of shingles, by which texts are then compared.
func (s *settings) compareInParts(g *cli.Files, f *flags) error {
	v := s.finding.Verify
	switch {
	case !s.inParts(f):
		return nil
	case !s.fingerprints:
		return cli.Usagef("--members and files of 'ndd shingles' apply to fingerprint files; of documents the texts are read")
	case f.members != "" && len(s.shingleFiles) > 0:
		return cli.Usagef("--members comes first, and then 'ndd shingles', whose files are given without it")
	case v == nil:
		return cli.Usagef("--members and files of 'ndd shingles' are for texts that are compared: give --verify, too")
	case len(f.against) > 0:
		return cli.Usagef("--members and files of 'ndd shingles' cannot go with --against")
	}
	if f.members == "" {
		v.Sets = members.Sets(s.shingleFiles, g.Threads)
		return nil
	}
	if err := g.Refuse("cannot go with --members, which writes a table alone", "output", "report", "dry-run",
		"max-drop"); err != nil {
		return err
	}
	format, err := result.FormatOf(f.members)
	if err != nil {
		return cli.Usagef("--members %w", err)
	}
	v.Sets = func(_ context.Context, d dedup.Documents, rows []dedup.Row, _ *shingle.Sets) error {
		return cmp.Or(writeMembers(g, f.members, format, members.Of(d, rows)), errMembersWritten)
	}
	return g.CheckOutput(f.members, memberColumns...)
}
