package permute

import (
	"fmt"
	"slices"
	"strings"
)

// Named returns the design of a name: one of the [Catalogue], or any other of these forms:
//
//	one halves thirds quarters ... ninths    parts
//	weave-M-LEAD                             weave
//	choose-M-LEAD                            Choose, LEAD = M-k or less
//	nested-M-M-...                           nested
//	paper-4 paper-10 paper-16 paper-20       Paper
//	cover-V-B-K                              the known covering designs C(V, B, K)
//	mixed-K-RADII                            the known families of mixed radii, a digit a table
//
// A design that is valid for a larger distance than k is returned as it is. The same name, k and seed
// give the same design for ever.
func Named(name string, k int, seed uint64) (Design, error) {
	if k < 0 || k > MaxK {
		return Design{}, fmt.Errorf("design %.80q: k = %d: want 0 to %d", name, k, MaxK)
	}
	if m := slices.Index(partNames, name); m >= 0 {
		return parts(m+1, k, seed)
	}
	for _, list := range [][]scheme{coverings, mixed} {
		for i := range list {
			if list[i].name == name {
				return list[i].design(k, seed)
			}
		}
	}
	if n, ok := numbers(name, "paper"); ok && len(n) == 1 {
		return paper(n[0], k, seed)
	}
	if n, ok := numbers(name, "choose"); ok && len(n) == 2 {
		return choose(n[0], n[1], k, seed)
	}
	if n, ok := numbers(name, "weave"); ok && len(n) == 2 {
		return weave(n[0], n[1], k, seed)
	}
	if n, ok := numbers(name, "nested"); ok {
		return nested(n, k, seed)
	}
	return Design{}, fmt.Errorf("no design %.80q; for k = %d there are %s, and choose-M-LEAD, weave-M-LEAD, nested-M-M",
		name, k, strings.Join(strings.Fields(catalogue[k]), ", "))
}

// Catalogue returns the designs for k that are worth considering, fewest tables first. For some number
// of buckets from 2^8 to 2^32, each probes the fewest of its number of tables, and at least 15 % fewer
// than any with fewer tables, where four neighbouring buckets count as one probe more. For every k
// there is at least one whose tables all have radius 0, and one that has a single table.
func Catalogue(k int, seed uint64) []Design {
	if k < 0 || k > MaxK {
		return nil
	}
	var list []Design
	for _, name := range strings.Fields(catalogue[k]) {
		d, err := Named(name, k, seed)
		if err != nil {
			panic(fmt.Sprintf("permute: catalogue: %v", err)) // a test makes them all
		}
		list = append(list, d)
	}
	return list
}

// catalogue has the names for each k. A test works it out anew from all designs that Named can make.
var catalogue = [MaxK + 1]string{
	"one",
	"one halves",
	"one halves thirds cover-5-3-2 cover-9-5-2 choose-4-2",
	"one halves thirds paper-4 mixed-3-1000 cover-7-5-3 mixed-3-10000 cover-6-4-3 cover-8-5-3 " +
		"paper-10 cover-11-6-3 cover-8-4-3",
	"one halves thirds quarters mixed-4-1110 fifths mixed-4-11000 mixed-4-11110 mixed-4-10000 " +
		"cover-9-7-4 mixed-4-111111 cover-8-6-4 mixed-4-1000000 cover-7-5-4 cover-10-7-4 cover-9-6-4 " +
		"cover-11-7-4 cover-10-6-4 cover-12-7-4 cover-9-5-4",
	"one halves thirds quarters mixed-5-2110 fifths mixed-5-11111 sixths cover-11-9-5 mixed-5-1000000 " +
		"mixed-5-1111111 cover-10-8-5 cover-9-7-5 cover-8-6-5 mixed-5-11111111111111 " +
		"cover-11-8-5 cover-10-7-5 cover-9-6-5 choose-8-3",
	"one halves thirds quarters mixed-6-2211 fifths mixed-6-11110 mixed-6-21111 mixed-6-22211 " +
		"sixths sevenths mixed-6-11000000 mixed-6-11111110 cover-11-9-6 mixed-6-11111111111 " +
		"cover-10-8-6 cover-9-7-6 choose-8-2 cover-11-8-6",
	"one halves thirds quarters mixed-7-2222 fifths sixths sevenths mixed-7-2111111 eighths " +
		"mixed-7-22222222 choose-9-2",
	"one halves thirds quarters mixed-8-3222 fifths mixed-8-33322 sixths mixed-8-111110 sevenths " +
		"eighths ninths choose-10-2",
}
