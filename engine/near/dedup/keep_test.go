package dedup

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/oracle/must"
)

// TestKeep checks that each policy keeps another one of three equal documents.
func TestKeep(t *testing.T) {
	docs := []Document{
		{ID: "a", TextBytes: 20, Values: []format.Value{{Text: "3", Found: true}}},
		{ID: "b", TextBytes: 10, Values: []format.Value{{Text: "11", Found: true}}, Modified: 1},
		{ID: "c", TextBytes: 30},
		{ID: "d", TextBytes: 20, Values: []format.Value{{Text: "11", Found: true}}},
	}
	for _, c := range []struct{ keep, want string }{{"first", "a"}, {"shortest", "b"}, {"longest", "c"},
		{"newest", "b"}, {"score", "b"}} {
		order, err := keep.Parse(c.keep)
		if err != nil || order.String() != c.keep {
			t.Fatal(order, err)
		}
		corpus := appended(t, ReadOptions{Keep: order}, docs...)
		r := found(t, corpus, Options{K: 3})
		if r.Len() != 1 {
			t.Fatal(r.Len())
		}
		kept := fmt.Sprint(keptRows(r))
		for cl := range r.Clusters() {
			if got := corpus.ID(cl.Kept); got != c.want || kept != fmt.Sprint([]Row{cl.Kept}) {
				t.Errorf("keep %s: %s, and kept are %s", c.keep, got, kept)
			}
		}
	}
	for _, c := range [][2]string{{"9007199254740992", "9007199254740993"}, {"-9007199254740994", "-9007199254740993"},
		{"18446744073709551614", "18446744073709551615"}, {"1e19", "10000000000000000001"}, {"1e300", "Infinity"}} {
		corpus := appended(t, ReadOptions{Keep: keep.Order{{Policy: keep.Largest, Field: "score"}}},
			Document{ID: "a", Values: []format.Value{{Text: c[0], Found: true}}},
			Document{ID: "b", Values: []format.Value{{Text: c[1], Found: true}}})
		if kept := keptRows(found(t, corpus, Options{K: 3})); !slices.Equal(kept, []Row{1}) {
			t.Errorf("of %s, %v is kept", c, kept)
		}
	}
	for _, by := range []string{"newest", "score"} {
		k, err := keep.Parse(by)
		must.Do(t, err)
		corpus := appended(t, ReadOptions{Keep: k}, Document{}, Document{})
		if _, err := Find(t.Context(), corpus, Options{}); !errors.Is(err, keep.ErrNoValue) {
			t.Errorf("keep %s: %v", by, err)
		}
	}
}
