package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/near/shingle"
	"ndd/engine/storage/disk"
)

// A Verify configures how texts are compared.
type Verify struct {
	Jaccard  float64         // least similarity of a document to what is kept for it, above 0 to 1
	Shingles shingle.Options // what is shared
	Memory   int64           // bytes for shingle sets; default [VerifyMemory]. More of them go to a temporary file
	TempDir  string          // of that file; default os.TempDir()
	Disk     *disk.Disk      // that it is on; default the system's
	Known    []string        // inputs that have the texts of what Options.Known finds, by the ids that it names
	Meter    *document.Meter // counts the reading, if not nil
	Begin    func()          // is called, if not nil, when all is compared and the reading begins
}

// VerifyMemory is the default of Verify.Memory: enough for the sets of most corpora.
const VerifyMemory = 512 << 20

func (v *Verify) memory() int64 {
	if v.Memory <= 0 {
		return VerifyMemory
	}
	return v.Memory
}

// ParseVerify returns the X of jaccard>=X.
func ParseVerify(s string) (threshold float64, err error) {
	number, ok := strings.CutPrefix(strings.ReplaceAll(s, " ", ""), "jaccard>=")
	if ok {
		threshold, err = strconv.ParseFloat(number, 64)
	}
	if !ok || err != nil || !(threshold > 0 && threshold <= 1) {
		return 0, fmt.Errorf("%q: must be jaccard>=X, with X above 0 and at most 1", s)
	}
	return threshold, nil
}

// errAgain begins what keeps documents from being read again.
var errAgain = errors.New("texts are needed again, and")

// readable returns why the documents cannot be read again; nil if they can.
func (c *Corpus) readable() error {
	if c.inputs == nil {
		return fmt.Errorf("%w fingerprints have none: give the documents", errAgain)
	}
	if i := slices.IndexFunc(c.inputs, document.ReadOnce); i >= 0 {
		return fmt.Errorf("%w a pipe (%s) cannot be read twice: put it in a file", errAgain, c.inputs[i])
	}
	return nil
}

// changed returns the error of documents that are not what they were.
func changed(where string) error {
	return fmt.Errorf("%s: changed since it was first read: run again while nothing writes to it", where)
}

// split splits the clusters by the lengths of their texts, and by the texts.
func (r *Result) split(ctx context.Context, o Options, prefer func(a, b int) int) error {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Star && len(r.corpus.second) > 0 {
		rejected := r.Rejected // what is no member of a star is not rejected
		near := func(a, b uint32) bool { return r.Distance(a, b) <= o.K }
		if err := r.splitBy(ctx, splitter{near: near, prefer: prefer}, o.Threads); err != nil {
			return err
		}
		r.Rejected = rejected
	}
	p := splitter{lengths: r.corpus.lengths, ratio: o.MaxLengthRatio, prefer: prefer}
	switch {
	case o.Verify != nil:
		return r.verify(ctx, o.Verify, o.Threads, p)
	case o.MaxLengthRatio != 0:
		return r.splitBy(ctx, p, o.Threads)
	}
	return nil
}

// splitBy splits the clusters with copies of a splitter.
func (r *Result) splitBy(ctx context.Context, p splitter, threads int) error {
	groups, err := r.splitClusters(ctx, p, threads)
	if err == nil {
		r.replaceClusters(groups)
	}
	return err
}

// verify splits the clusters by their texts too.
func (r *Result) verify(ctx context.Context, v *Verify, threads int, p splitter) (err error) {
	if v.Begin != nil {
		v.Begin()
	}
	members := slices.Clone(r.rows)
	slices.Sort(members)
	s := shingle.NewSets(len(members), v.memory(), v.TempDir, v.Disk)
	defer func() { err = cmp.Or(err, s.Close()) }()
	if err := r.corpus.shingle(ctx, v, s, members, threads); err != nil {
		return err
	}

	p.least, p.sets, p.members = v.Jaccard, s, members
	return r.splitBy(ctx, p, threads)
}
