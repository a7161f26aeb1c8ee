package dedup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/near/cluster"
	"ndd/engine/near/dedup"
	"ndd/permute"
)

func (d *deduping) options() (o dedup.Options, read dedup.ReadOptions, err error) {
	if d.prints {
		err = d.g.Refuse("applies only to documents; fingerprint files have no texts", cli.DocumentFlagNames...)
		if err != nil {
			return o, read, err
		}
	}
	if err = d.choose(); err != nil {
		return o, read, err
	}
	o = dedup.Options{K: d.k, Chains: d.chains, Exact: d.exact()}
	if o.Verify, err = d.verification(); err != nil {
		return o, read, err
	}
	if !d.changed("keep") && o.Verify != nil && o.Verify.Rule.ByContainment() {
		d.keep = "longest" // what is contained is shorter
	}
	if read.Keep, err = dedup.ParseKeep(d.keep); err != nil {
		return o, read, cli.Usagef("--keep %w", err)
	}
	if d.changed("same-url") {
		switch {
		case d.prints:
			return o, read, cli.Usagef("--same-url applies only to documents; fingerprint files have no URLs")
		case d.sameURL == "":
			return o, read, cli.Usagef("--same-url= names no field")
		case d.sameURL == dedup.URLFields[0]:
			read.SameURL = dedup.URLFields
		default:
			read.SameURL = []string{d.sameURL}
		}
	}
	if read.Source, read.Keep, err = d.sources.options(read.Keep, d.prints); err != nil {
		return o, read, err
	}
	d.keep = read.Keep.String()
	if err = d.checkFormat(); err != nil {
		return o, read, err
	}
	if read.Budget, err = d.g.Budget(d.memory); err != nil {
		return o, read, err
	}
	if err = d.checkStreams(); err != nil {
		return o, read, err
	}
	read.Open, read.Disk = d.g.FingerprintOptions(), d.g.Disk
	read.Find, read.Threads = o, d.g.Threads
	read.Copies = !d.dryRun && d.writeKept+d.annotate != ""
	if o.Verify != nil {
		o.Verify.Memory = int64(min(read.Budget.Left()/4, dedup.VerifyMemory))
	}
	read.Say = func(n int, bytes uint64, spilled bool) {
		what, limit := "reading", read.Budget.Limit()
		if n > 0 {
			what = "comparing " + cli.Number(n, "document")
		}
		more := ""
		if spilled {
			more = " beside temporary files of what grows with their number"
		} else if n > cluster.DirectMax {
			more = fmt.Sprintf(" (%d bytes for each that is near another, if these are very many)", cluster.CandidateBytes)
		}
		d.g.Log.Debug(fmt.Sprintf("%s takes up to %s of memory%s, of %s (%s)", what,
			humanize.IBytes(read.Budget.Total(bytes)), more, humanize.IBytes(limit.Bytes), limit.Source))
	}
	return o, read, nil
}

type quality struct {
	k      int
	verify string
}

// qualities are the values of --quality.
var qualities = map[string]quality{"exact": {}, "fast": {3, ""}, "balanced": {6, balancedRule},
	"thorough": {8, balancedRule}}

const balancedRule = "jaccard>=0.7"

// choose sets -k and --verify where they are not given: texts are compared if they can be read again
// and neither is given. If they cannot, it says so.
func (d *deduping) choose() error {
	if d.exact() {
		if d.prints {
			return cli.Usagef("--quality exact compares texts, and fingerprint files have none: give the documents")
		}
		if err := d.g.Refuse("cannot go with --quality exact, which compares nothing else than whole texts", "distance",
			"verify", "chains", "against", "against-docs", "recipe", "drop"); err != nil {
			return err
		}
	}
	distance, verify, why := d.changed("distance"), d.changed("verify"), ""
	q, known := qualities[d.quality]
	switch {
	case d.quality != "" && !known:
		return cli.Usagef("--quality %s: must be exact, fast, balanced or thorough", d.quality)
	case known && (distance || verify):
		return cli.Usagef("--quality stands for -k and --verify: leave it out to give these")
	case known:
	case distance || verify && d.verify == "":
		q = quality{qualities["fast"].k, d.verify}
	case verify:
		q = quality{qualities["balanced"].k, d.verify}
	case d.prints && !d.inParts():
		q, why = qualities["fast"], "fingerprint files have no texts"
	case slices.ContainsFunc(d.inputs, document.ReadOnce):
		q, why = qualities["fast"], "a pipe is read once; documents in files are read again to compare their texts"
	case len(d.against) > 0 && len(d.againstDocs) == 0:
		q, why = qualities["fast"], "--against has no texts; --against-docs names the documents that they were made from"
	default:
		q = qualities["balanced"]
	}
	if d.verify = q.verify; !distance {
		d.k = q.k
	}
	if d.k < 0 || d.k > permute.MaxK {
		return cli.Usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	if why != "" {
		d.g.Log.Info(fmt.Sprintf("comparing fingerprints alone, with k = %d: %s", d.k, why))
	}
	return nil
}

// checkFormat checks the format of the result. The error for a format of documents names
// --input-format.
func (d *deduping) checkFormat() error {
	err := d.format.Check(d.g, d.out)
	if err == nil {
		return nil
	}
	if _, known := document.ParseFormat(d.format.Name); known == nil && d.format.Format == 0 {
		return fmt.Errorf("%w; --input-format says how documents are read", err)
	}
	return err
}

// verification returns the options of --verify and the flags that go with it, nil without it.
func (d *deduping) verification() (*dedup.Verify, error) {
	if len(d.againstDocs) > 0 && (d.verify == "" || len(d.against) == 0 || slices.ContainsFunc(d.againstDocs,
		document.ReadOnce)) {
		return nil, cli.Usagef("--against-docs applies only with --against and --verify, and takes files, not pipes")
	}
	if d.verify == "" {
		return nil, nil
	}
	rule, err := dedup.ParseRule(d.verify)
	if err != nil {
		return nil, cli.Usagef("--verify %w", err)
	}
	if len(d.against) > 0 && len(d.againstDocs) == 0 {
		return nil, cli.Usagef("--verify needs the texts of the documents in %s, where there are only fingerprints: "+
			"give the files that they were made from with --against-docs", d.againstNames())
	}
	return &dedup.Verify{Rule: rule, Known: d.againstDocs}, nil
}

// checkStreams refuses pipes that would have to be read twice, and outputs that are no folders.
func (d *deduping) checkStreams() error {
	verify := "--verify"
	if d.quality != "" {
		verify = "--quality " + d.quality
	}
	for _, again := range []struct{ flag, value string }{{verify, d.verify}, {"--write-kept", d.writeKept},
		{"--annotate", d.annotate}, {"--report", d.report}} {
		if again.value == "" {
			continue
		}
		if again.value == document.Stdin {
			return cli.Usagef("%s -: it is a folder, and cannot be standard output", again.flag)
		}
		if d.prints && again.flag == verify && d.inParts() {
			continue
		}
		if d.prints && again.flag != "--report" {
			return cli.Usagef("%s needs documents; fingerprint files have no texts", again.flag)
		}
		if !d.prints {
			if err := cli.ReadTwice(again.flag, d.inputs); err != nil {
				return err
			}
		}
	}
	if d.work != "" && d.prints {
		return cli.Usagef("--work keeps what is read of documents; fingerprint files hold that already")
	}
	if err := d.g.CheckWork(d.work, d.inputs); err != nil {
		return err
	}
	if d.out == document.Stdin {
		return cli.Usagef("-o -: the result is a folder; without -o, clusters are printed on standard output")
	}
	if copies := cmp.Or(d.writeKept, d.annotate); d.g.Given["format"] && d.out == "" && copies != "" {
		return cli.Usagef("--format is for clusters, which are not printed beside the copies in %s: give -o, too", copies)
	}
	return nil
}
