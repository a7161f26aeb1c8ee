package permute

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

func TestChoose(t *testing.T) {
	for k := 0; k <= MaxK; k++ {
		for m := k + 1; m <= k+4; m++ {
			d, err := choose(m, m-k, k, 3)
			must.Do(t, err)
			if want := int(Binomial(m, k)); len(d.Tables) != want {
				t.Errorf("%s: %d tables, want %d", d.Name, len(d.Tables), want)
			}
			minimum, maximum := d.Leading()
			if mean := 64 * float64(m-k) / float64(m); float64(maximum) < mean || float64(minimum) > mean ||
				maximum-minimum > m-k {
				t.Errorf("%s: %d to %d leading bits, want about %.1f", d.Name, minimum, maximum, mean)
			}
			must.Do(t, d.Validate())
		}
	}
}

func TestNested(t *testing.T) {
	for _, c := range []struct {
		k int
		m []int
	}{{1, []int{2, 2, 2}}, {1, []int{3, 2}}, {2, []int{3, 4}}, {2, []int{4, 3, 3}}, {3, []int{4, 4, 4}}, {3,
		[]int{5, 4}}, {4, []int{5, 6}}} {
		d, err := nestedDesign(c.m, c.k, 9)
		must.Do(t, err)
		want := 1
		for _, m := range c.m {
			want *= int(Binomial(m, c.k))
		}
		if len(d.Tables) > want {
			t.Errorf("%s: %d tables, want at most %d", d.Name, len(d.Tables), want)
		}
		if err := d.Validate(); err != nil { // Validate also checks that no mask is repeated
			t.Error(err)
		}
		repeated, err := ByName(d.Name, c.k, 9)
		if err != nil || fmt.Sprint(repeated) != fmt.Sprint(d) {
			t.Errorf("Named(%q) is another design: %v", d.Name, err)
		}
	}
}

func TestNamed(t *testing.T) {
	everyDesign(t, 4, func(t *testing.T, d Design) {
		repeated, err := ByName(d.Name, d.K, 4)
		if err != nil || fmt.Sprint(repeated) != fmt.Sprint(d) {
			t.Errorf("Named(%q, %d) is another design: %v", d.Name, d.K, err)
		}
	})
	for k, names := range map[int][]string{
		-1: {"one"}, MaxK + 1: {"one"}, 0: {"nested-2", "choose-0-0"}, 1: {"nested-64-2"}, 4: {"nested-9-9", "choose-64-60"},
		3: {"", "paper", "paper-", "paper-5", "paper-010", "choose-5", "choose-2-5", "choose-5-0", "choose-3-0",
			"choose-65-62", "choose-99999999999999999999-1", "choose-5-2-1", "nested", "nested-3",
			"tenths", "Halves", "choose-+5-2", strings.Repeat("x", 1000)},
	} {
		for _, name := range names {
			d, err := ByName(name, k, 1)
			if err == nil {
				t.Errorf("Named(%.20q, %d) made %s", name, k, d.Name)
			} else if len(err.Error()) > 2000 {
				t.Errorf("Named(%.20q, %d): the error has %d bytes", name, k, len(err.Error()))
			}
		}
	}
	_, err := ByName("sevens", 3, 1)
	for _, known := range []string{"sevens", "halves", "paper-10", "cover-11-6-3"} {
		if err == nil || !strings.Contains(err.Error(), known) {
			t.Errorf("the error for an unknown name does not say %q: %v", known, err)
		}
	}
	if d, err := ByName("paper-20", 2, 1); err != nil || d.K != 2 || d.Validate() != nil {
		t.Errorf("paper-20 for k = 2: %v, %v", d.K, err)
	}
}
