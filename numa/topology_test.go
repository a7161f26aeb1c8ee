package numa

import (
	"slices"
	"testing"
)

func TestParseList(t *testing.T) {
	for s, want := range map[string][]int{"": nil, "\n": nil, "3": {3}, "0-2,7": {0, 1, 2, 7}, "4,1-2,2": {1, 2, 4}} {
		if got, err := parseList(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
	for _, s := range []string{"-", "1-", "a", "2-1", "0-99999999", ",", "1,,2", "-1"} {
		if got, err := parseList(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}
