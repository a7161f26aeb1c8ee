package mapreduce

import (
	"errors"
	"fmt"

	"example.org/ndd/engine/copies"
)

// ErrJob is wrapped if a reduce is of another job than its maps, or has other settings.
var ErrJob = errors.New("map and reduce are not of the same job, or its settings differ")

// name identifies the job and the settings that change keys or results. Map and reduce must have the same name. A name
// has no space. Jobs without a reduce have no name.

func (j Scan) name() string  { return "scan" }
func (j Dedup) name() string { return "dedup" }

func (j Fingerprint) name() string { return "" }
func (j Signatures) name() string  { return "" }

func (j Pairs) name() string {
	return fmt.Sprintf("pairs,k=%d,threshold=%g,most=%d,bits=%d", j.K, j.Threshold, j.PairsMax, j.Bits)
}

func (j CopiesDocs) name() string  { return copiesName("copies-docs", &j.Copies) }
func (j CopiesTerms) name() string { return copiesName("copies-terms", &j.Copies) }
func (j CopiesSum) name() string   { return copiesName("copies-sum", &j.Copies) }

func copiesName(job string, o *copies.Options) string {
	p, err := join(o)
	if err != nil {
		return "" // the step itself returns the error
	}
	return fmt.Sprintf("%s,%s,threshold=%g,df=%d-%d", job, o.Method, p.Threshold, p.MinDocuments, p.MaxDocuments)
}

// sameRecipe returns an error that wraps [ErrRecipe] if the signatures of the input are of another recipe than the
// job.
func (t *task) sameRecipe(o *copies.Options) error {
	if expected := signatureRecipe(o); t.read.Recipe != "" && t.read.Recipe != expected {
		return fmt.Errorf("%w: signatures of %s, and a job of %s: every step needs the same --method and --method-file",
			ErrRecipe, t.read.Recipe, expected)
	}
	return nil
}

// sameJob returns an error that wraps [ErrJob] unless an end record is of this reduce's job.
func (t *task) sameJob(e *end) error {
	if t.job == "" || e.Job == "" || e.Job == t.job {
		return nil
	}
	return fmt.Errorf("%w: a map was of %s, and this is %s", ErrJob, e.Job, t.job)
}
