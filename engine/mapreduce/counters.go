package mapreduce

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A counter is one of a task's counters. Frameworks show its name.
type counter int

const (
	recordsIn counter = iota
	recordsOut
	badRecords
	fingerprints
	unmarked
	repaired
	unknownCharset
	repeatedIDs
	pairs
	frequentPairs
	unlistedDocuments
	undecidedDocuments
	pairsLeftOut
	unverifiedPairs
	counterCount
)

// counterNames have neither commas nor spaces, because these end a name in a reporter: line.
var counterNames = [counterCount]string{"records_in", "records_out", "bad_records", "fingerprints", "unmarked_documents",
	"repaired_documents", "unknown_charset_documents", "documents_with_an_earlier_id", "pairs",
	"pairs_of_frequent_signatures", "equal_documents_listed_with_the_first_only", "undecided_documents", "pairs_left_out",
	"unverified_pairs"}

// counters may be read while they change.
type counters [counterCount]atomic.Int64

func (c *counters) add(name counter, n int64) { c[name].Add(n) }

// reportStatus calls t.Status every StatusEvery until stop is called.
func (t *task) reportStatus(what string) (stop func()) {
	if t.Status == nil {
		return func() {}
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(StatusEvery):
				t.Status(fmt.Sprintf("%s: %d records in, %d out", what, t.counters[recordsIn].Load(),
					t.counters[recordsOut].Load()))
			}
		}
	})
	return func() {
		close(done)
		group.Wait()
	}
}

// badShown is the number of malformed records to show.
const badShown = 5

// bad counts n malformed records of the input. The error wraps [ErrBad] if there are too many.
func (t *task) bad(n int64, where string, why error) error {
	t.counters.add(badRecords, n)
	all := t.counters[badRecords].Load()
	if t.Warn != nil && all <= badShown {
		t.Warn(fmt.Sprintf("skipped a bad record, %s: %v", where, why))
	}
	if all > t.MaxBad {
		return fmt.Errorf("%w: %d, and at most %d are skipped; one is %s: %w", ErrBad, all, t.MaxBad, where, why)
	}
	return nil
}

// checkBad returns an error if all records were bad.
func (t *task) checkBad() error {
	bad, in := t.counters[badRecords].Load(), t.counters[recordsIn].Load()
	if bad > 0 && bad >= in {
		return fmt.Errorf("%w: all of %d: this is no input of the job", ErrBad, bad)
	}
	return nil
}
