package plan

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/distribution"
)

// explain writes the reasons for the choice.
func (p *Plan) explain() {
	r, c := &p.Request, &p.Choice
	say := func(format string, args ...any) { p.Reasons = append(p.Reasons, fmt.Sprintf(format, args...)) }

	// Explain the choice.
	time := c.nanoseconds(r.Purpose)
	switch {
	case r.Memory > 0:
		say("%s in the %s layout takes %s of the %s given (%.1f bytes per fingerprint) and %s a query.",
			c.Name, c.Layout, Size(c.Bytes), Size(r.Memory), c.PerFingerprint(r.Fingerprints), Duration(time))
	default:
		say("%s in the %s layout takes %s (%.1f bytes per fingerprint) and %s a query: chosen because memory × query "+
			"time is smallest, as no limit on memory was set.",
			c.Name, c.Layout, Size(c.Bytes), c.PerFingerprint(r.Fingerprints), Duration(time))
	}
	// Describe the work of a query.
	if c.Scan {
		say("A query reads one table from end to end, since its %s would cost more; alone it takes %s, in batches %s.",
			Count(c.Probes, "probe"), Duration(c.OnlineNS), Duration(c.BatchNS))
	} else {
		say("A query makes %s and compares %s; alone it takes %s, in batches %s.",
			Count(c.Probes, "probe"), Count(c.Candidates, "candidate"), Duration(c.OnlineNS), Duration(c.BatchNS))
	}
	// Compare the size with the bound.
	if n := r.Fingerprints; n > 0 {
		say("A table takes %.2f bits per fingerprint; uniform fingerprints have an entropy of %.2f bits.",
			8*float64(c.TableBytes)/float64(c.Tables)/float64(n), distribution.Bound(n))
	}
	if c.IDBytes > 0 {
		name := "document numbers"
		if r.NameBytes > 0 {
			name += " and IDs"
		}
		say("%s of it are for %s.", Size(c.IDBytes), name)
	} else if r.Fingerprints > 0 {
		say("Document numbers would take %s more.", Size(r.rowBytes()))
	}
	// Compare the sample with uniform fingerprints.
	if r.Sample != nil {
		uniform := 0.0
		for _, t := range c.Design.Tables {
			w := newUniformWork(modelOf(c.Layout), t, float64(r.Fingerprints), r.K, uniformEntry(float64(r.Fingerprints)))
			uniform += w.probes * w.candidates
		}
		say("In the sample, a query has %.3g times the candidates that it would have among uniform fingerprints.",
			c.Candidates/max(uniform, 1e-300))
	}
}

// Count formats a number of things. It rounds an expected number.
func Count(n float64, noun string) string {
	if noun != "" {
		noun = " " + noun + "s"
	}
	switch {
	case math.Round(n) == 1:
		return "1" + strings.TrimSuffix(noun, "s")
	case n < 0.995:
		return fmt.Sprintf("%.1g", n) + noun
	case n < 1e6:
		return humanize.Comma(int64(math.Round(n))) + noun
	case n < 1e15:
		million := int64(math.Round(n / 1e6))
		return humanize.Comma(million) + " million" + noun
	}
	return fmt.Sprintf("%.3g", n) + noun
}

// Size formats bytes for people: three digits, in the units of flags, such as GiB.
func Size(bytes uint64) string {
	v, unit := float64(bytes), "bytes"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1024, u
	}
	return trim(v) + " " + unit
}

// Duration formats nanoseconds for people, with three digits.
func Duration(ns float64) string {
	unit := "ns"
	for _, u := range []string{"us", "ms", "s"} {
		if ns < 999.5 {
			break
		}
		ns, unit = ns/1000, u
	}
	return trim(ns) + " " + unit
}

// trim formats about three digits.
func trim(v float64) string {
	digits := max(0, 2-int(math.Floor(math.Log10(max(v, 1)))))
	s := fmt.Sprintf("%.*f", digits, v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
