package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ndd/engine/corpus/document"
)

// TestBudget reads documents that are together, and some each, larger than what may be in flight: all have to
// come through, and in order.
func TestBudget(t *testing.T) {
	const n, budget = 60, 50_000
	var in bytes.Buffer
	for i := range n {
		// 30 bytes to 300 KB, mixed.
		text := strings.Repeat(fmt.Sprintf("the %d words of text %d. ", i, i), 1+i*i*i%97*i%97*130)
		fmt.Fprintf(&in, "{\"id\":%d,\"text\":%q}\n", i, text)
	}
	if in.Len() < 50*budget {
		t.Fatalf("%d bytes are no test of a budget of %d", in.Len(), budget)
	}
	for _, threads := range []int{1, 4} {
		next := 0
		_, err := run(t.Context(), []string{document.Stdin}, Config{Stdin: bytes.NewReader(in.Bytes()), Threads: threads}, budget,
			func(r Record) error {
				if r.ID != fmt.Sprint(next) {
					return fmt.Errorf("record %s where %d was due", r.ID, next)
				}
				next++
				return nil
			})
		if err != nil || next != n {
			t.Errorf("%d threads: %d records, then %v", threads, next, err)
		}
	}
}
