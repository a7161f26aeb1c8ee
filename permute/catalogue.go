package permute

import (
	"fmt"
	"slices"
	"strings"
)

// ByName returns the design with a name: a name of the [Catalogue], or any other name of these forms:
//
//	one halves thirds quarters ... ninths    parts
//	choose-M-LEAD                            choose, LEAD = M-k or less
//	nested-M-M-...                           nested
//	paper-4 paper-10 paper-16 paper-20       paper
//	cover-V-B-K                              the known covering designs C(V, B, K)
//	mixed-K-RADII                            the known families of mixed radii, one digit per table
//
// A design that is valid for a larger distance than k is returned unchanged. The same name, k and seed always give
// the same design.
func ByName(name string, k int, seed uint64) (Design, error) {
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
	kind, list, _ := strings.Cut(name, "-")
	switch n := numbers(list); {
	case kind == "paper" && len(n) == 1:
		return paper(n[0], k, seed)
	case kind == "choose" && len(n) == 2:
		return choose(n[0], n[1], k, seed)
	case kind == "nested" && n != nil:
		return nestedDesign(n, k, seed)
	}
	return Design{}, fmt.Errorf("no design %.80q; for k = %d there are %s, and choose-M-LEAD, nested-M-M",
		name, k, strings.Join(strings.Fields(catalogue[k]), ", "))
}

// Catalogue returns the useful designs for k, with the fewest tables first. Each design has, for some number of
// buckets from 2^8 to 2^32, the fewest probes of all designs with its number of tables. It also has at least 15 %
// fewer probes than any design with fewer tables. Four neighbouring buckets count as one more probe. For every k the
// list has a design whose radii are all 0, and one with a single table.
func Catalogue(k int, seed uint64) []Design {
	if k < 0 || k > MaxK {
		return nil
	}
	var list []Design
	for _, name := range strings.Fields(catalogue[k]) {
		d, err := ByName(name, k, seed)
		if err != nil { // a test builds all of them
			panic(fmt.Sprintf("permute: catalogue: %v", err)) // a test makes them all
		}
		list = append(list, d)
	}
	return list
}

// catalogue has the names for each k. A test computes them again from all designs that ByName can build.
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

// mixed are families of tables with different radii over overlapping sets of blocks, which parts cannot
// express. In the literature they are lottery designs: every ticket of k numbers shares k-r numbers with some
// block. Here each set has its own radius. A ticket may contain a number more than once, because a block may have
// more than one error. The name has k and the radii, one digit per table. Some have a short proof:
//
//   - mixed-3-1000..., mixed-4-10000..: table ab finds up to 1 error in ab. With 2 or more errors in ab, k-2 are
//     left for a covering of the other blocks;
//   - mixed-5-1111111: the lines of the Fano plane. If 5 blocks have an error, the line through the
//     other two has only one more block. If fewer have, a line is free of errors, or three blocks free
//     of errors are on three lines with one more block each, which cannot all have 2 errors;
//   - mixed-5-11111111111111: the planes of AG(3, 2), as in cover-8-4-3.
//
// [Design.Validate] proves all of them in the tests. No table can be removed and no radius lowered. They were found
// by the same search as the coverings.
var mixed = []scheme{
	{name: "mixed-3-1000", k: 3, sets: "ab1 cd ce de"},
	{name: "mixed-3-10000", k: 3, sets: "abc1 def deg dfg efg"},
	{name: "mixed-4-1110", k: 4, sets: "ab1 be1 cd1 ae"},
	{name: "mixed-4-11000", k: 4, sets: "abc1 def1 agh bgh cgh"},
	{name: "mixed-4-11110", k: 4, sets: "abcd1 abde1 cefg1 fghi1 cehi"},
	{name: "mixed-4-10000", k: 4, sets: "ab1 cd cg dg ef"},
	{name: "mixed-4-111111", k: 4, sets: "abc1 abf1 ade1 bde1 cdf1 cef1"},
	{name: "mixed-4-1000000", k: 4, sets: "ab1 cd ce cf de df ef"},
	{name: "mixed-5-2110", k: 5, sets: "ab2 cd1 de1 ce"},
	{name: "mixed-5-11111", k: 5, sets: "abc1 ade1 bcd1 bce1 fgh1"},
	{name: "mixed-5-1000000", k: 5, sets: "ab1 cd cg dg ef eh fh"},
	{name: "mixed-5-1111111", k: 5, sets: "abc1 ade1 afg1 bdg1 bef1 cdf1 ceg1"},
	{name: "mixed-5-11111111111111", k: 5,
		sets: "abcd1 abeh1 abfg1 acef1 acgh1 adeg1 adfh1 bceg1 bcfh1 bdef1 bdgh1 cdeh1 cdfg1 efgh1"},
	{name: "mixed-6-2211", k: 6, sets: "ab2 cd2 ae1 be1"},
	{name: "mixed-6-11110", k: 6, sets: "ab1 cd1 de1 fg1 ce"},
	{name: "mixed-6-21111", k: 6, sets: "abc2 def1 dgh1 efg1 efh1"},
	{name: "mixed-6-22211", k: 6, sets: "abcd2 abdi2 efgh2 cegi1 cfhi1"},
	{name: "mixed-6-11000000", k: 6, sets: "ab1 cd1 ef eg eh fg fh gh"},
	{name: "mixed-6-11111110", k: 6, sets: "abc1 aci1 bdi1 def1 dfg1 dfh1 egh1 bfi"},
	{name: "mixed-6-11111111111", k: 6, sets: "abc1 ade1 adh1 afg1 bdg1 beh1 bfh1 cdf1 cef1 cgh1 efg1"},
	{name: "mixed-7-2222", k: 7, sets: "ab2 ac2 bc2 de2"},
	{name: "mixed-7-2111111", k: 7, sets: "abc2 def1 dfg1 dhi1 egh1 egi1 fhi1"},
	{name: "mixed-7-22222222", k: 7, sets: "abcd2 acef2 aghi2 bdei2 bfgh2 cghi2 defi2 degh2"},
	{name: "mixed-8-3222", k: 8, sets: "ab3 cd2 ce2 de2"},
	{name: "mixed-8-33322", k: 8, sets: "abcd3 abef3 fghi3 cdef2 eghi2"},
	{name: "mixed-8-111110", k: 8, sets: "ab1 bc1 de1 fg1 hi1 ac"},
}

// coverings are covering designs C(v, b, t): sets of b out of v points, such that any t points are in one of them.
// Here the points are blocks of bits, and a set has the blocks that do not lead. If a set contains every block with
// an error, the v-b leading blocks of its table have none. The words below are the leading blocks: the complements of
// the sets of the literature. The La Jolla Covering Repository lists the best known sets. Gordon, Kuperberg,
// Patashnik, "New constructions for covering designs", 1995, describes their constructions. In terms of hypergraphs:
// no t points meet all edges.
//
// The designs for k >= 4 were found by simulated annealing, in half a second each. With more time, the larger ones
// may get fewer tables. The method is by Nurmela and Östergård, "Upper bounds for covering designs by simulated
// annealing", 1993. The state is the family of sets. The cost is the number of error patterns that no table finds. A
// move replaces a point of one set by a point outside it.
var coverings = []scheme{
	// A triangle and an edge: 2+1 points to meet them all, which 2 errors cannot.
	{name: "cover-5-3-2", k: 2, sets: "ab ac bc de"},
	{name: "cover-9-5-2", k: 2, sets: "abcd adef bcef eghi fghi"},

	// A triangle and two edges: 2+1+1 points.
	{name: "cover-7-5-3", k: 3, sets: "ab ac bc de fg"},
	// Two triangles: 2+2 points.
	{name: "cover-6-4-3", k: 3, sets: "ab ac bc de df ef"},
	// Two complete 3-graphs on 4 points: 2+2 points.
	{name: "cover-8-5-3", k: 3, sets: "abc abd acd bcd efg efh egh fgh"},
	// The biplane of order 3: the quadratic residues modulo 11 and their translates.
	{name: "cover-11-6-3", k: 3, sets: "bdefj cefgk adfgh beghi cfhij dgijk aehjk abfik abcgj bcdhk acdei"},
	// The planes of the affine space AG(3, 2).
	{name: "cover-8-4-3", k: 3, sets: "abcd abef abgh aceg acfh adeh adfg bceh bcfg bdeg bdfh cdef cdgh efgh"},

	// Found by the search program. Sets of two letters are disjoint complete graphs.
	{name: "cover-9-7-4", k: 4, sets: "ab ai bi cd ef gh"},
	{name: "cover-8-6-4", k: 4, sets: "ab ah bh cd ef eg fg"},
	{name: "cover-7-5-4", k: 4, sets: "ab af bf cd ce cg de dg eg"},
	{name: "cover-10-7-4", k: 4, sets: "abc acg ahj beg bfg chj def dhi dij efi"},
	{name: "cover-9-6-4", k: 4, sets: "abc ade afh agi bdf beg bhi cdi ceh cfg dgh efi"},
	{name: "cover-11-7-4", k: 4,
		sets: "abcd abgi achj adjk aefi aegk afhk bcef beik bgjk bhij cdgi cdhk cfik defj dfgh eghj"},
	{name: "cover-10-6-4", k: 4,
		sets: "abcd abej abgi acfg adef adhi aegh afij bcfj bchi bdfg befi bghj cdej cdgh cefh cgij degi dfhj ehij"},
	{name: "cover-12-7-4", k: 4,
		sets: "abcde abdfg abfil abgjk acdjk acfhl acgil adehk adhij aefij aeghl bcghl bchik bdegj befik bejkl " +
			"bfhjk bfijl cdfik cefgh cefgl cehij defhl dgikl dgjkl fghij"},
	{name: "cover-9-5-4", k: 4,
		sets: "abcd abce abcg abdi abeh abfg acde acdg aceg acfh acfi achi adeg adfh aefi aghi bcdi bceh bcfg " +
			"bdef bdgh begi bfhi cdeg cdfh cefi cghi dehi dfgi efgh"},
	{name: "cover-11-9-5", k: 5, sets: "ab ae be cd fg hi jk"},
	{name: "cover-10-8-5", k: 5, sets: "ab cd cj dj ef gh gi hi"},
	{name: "cover-9-7-5", k: 5, sets: "ab ac bc de dh eh fg fi gi"},
	{name: "cover-8-6-5", k: 5, sets: "ab ac ad bc bd cd ef eg eh fg fh gh"},
	{name: "cover-11-8-5", k: 5, sets: "abc aci ade afg ahk bfg bhi bik cde chk dek dfj dgj efj egj fgi"},
	{name: "cover-10-7-5", k: 5, sets: "abc abj adi aeg afh bde bfi bgh cdh cdj cef cgi cgj chj cij dfg dhj efj ehi gij"},
	{name: "cover-9-6-5", k: 5,
		sets: "abc abd abi acd adf adi aeg aeh afh agh bcd bch bdi bef beg bfg bhi cef cei cfg cfi cgi chi deg " +
			"deh dfh dgh efi egh fgi"},
	{name: "cover-11-9-6", k: 6, sets: "ab af bf cd ce de gh ij ik jk"},
	{name: "cover-10-8-6", k: 6, sets: "ab af bf cd ce cj de dj ej gh gi hi"},
	{name: "cover-9-7-6", k: 6, sets: "ab ac ah ai bc bh bi ch ci de df dg ef eg fg hi"},
	{name: "cover-11-8-6", k: 6,
		sets: "abc abf ack adg aej afk ahi bdh bdk bei bek bgj bhk bik cde cfg cfh cfi cfj cgi chj def dhk dij " +
			"egh eik fgi fhj gjk"},
}
