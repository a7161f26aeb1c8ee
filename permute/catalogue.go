package permute

import (
	"fmt"
	"slices"
	"strings"
)

// Named makes the design of a name: one of the catalogue, or any other that the schemes of this
// package can make:
//
//	one halves thirds quarters ... ninths    Parts
//	weave-M-LEAD                             Weave
//	choose-M-LEAD                            Choose, LEAD = M-k or less
//	nested-M-M-...                           Nested
//	paper-4 paper-10 paper-16 paper-20       Paper
//	cover-V-B-T                              the covering designs that the catalogue knows
//
// A design that is valid for a larger k than asked for is given as it is. The same name, k and seed
// give the same design for ever.
func Named(name string, k int, seed uint64) (Design, error) {
	if k < 0 || k > MaxK {
		return Design{}, fmt.Errorf("design %.80q: k = %d: want 0 to %d", name, k, MaxK)
	}
	if m := slices.Index(partNames, name); m >= 0 {
		return Parts(m+1, k, seed)
	}
	for i := range coverings {
		if coverings[i].name == name {
			return coverings[i].design(k, seed)
		}
	}
	if n, ok := numbers(name, "paper"); ok && len(n) == 1 {
		return paper(n[0], k, seed)
	}
	if n, ok := numbers(name, "choose"); ok && len(n) == 2 {
		return choose(n[0], n[1], k, seed)
	}
	if n, ok := numbers(name, "weave"); ok && len(n) == 2 {
		return Weave(n[0], n[1], k, seed)
	}
	if n, ok := numbers(name, "nested"); ok {
		return Nested(n, k, seed)
	}
	return Design{}, fmt.Errorf("no design %.80q for k = %d; known: %s, or choose-M-LEAD, weave-M-LEAD, nested-M-M",
		name, k, strings.Join(names(k), ", "))
}

// Catalogue lists the designs for k that are worth considering, fewest tables first.
func Catalogue(k int, seed uint64) []Design {
	var list []Design
	for _, name := range names(k) {
		d, err := Named(name, k, seed)
		if err != nil {
			panic(fmt.Sprintf("permute: catalogue: %v", err)) // a test makes them all
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b Design) int { return len(a.Tables) - len(b.Tables) })
	return list
}

func names(k int) []string {
	var list []string
	for m := 1; m <= min(k+1, 4); m++ {
		list = append(list, partNames[m-1])
	}
	for _, c := range coverings {
		if c.k == k {
			list = append(list, c.name)
		}
	}
	if k == 3 {
		list = append(list, "paper-4", "paper-10", "paper-16", "paper-20")
	}
	return list
}
