package permute

// coverings are covering designs C(v, b, t): sets of b of v points, such that any t points are in
// one of them. Here the points are blocks of bits and the sets are what follows the leading bits: a set
// that holds every block with an error leaves a table whose v-b leading blocks have none. The words
// below are the leading blocks, the complements of the sets of the literature (the La Jolla Covering
// Repository lists the best known; Gordon, Kuperberg, Patashnik, "New constructions for covering
// designs", 1995, says where they come from). In the language of hypergraphs they are families of sets
// that no t points all meet.
//
// To find those from k = 4 on again: go run ./permute/internal/search -k 4 -sweep 0x5-33 -most 12,
// and so on. Half a second of annealing each found them: with more time, the larger ones may have
// fewer tables.
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

	// Found by the search program. Those of two letters are disjoint complete graphs.
	{name: "cover-9-7-4", k: 4, sets: "ab ai bi cd ef gh"},
	{name: "cover-8-6-4", k: 4, sets: "ab ah bh cd ef eg fg"},
	{name: "cover-7-5-4", k: 4, sets: "ab af bf cd ce cg de dg eg"},
	{name: "cover-10-7-4", k: 4, sets: "abc acg ahj beg bfg chj def dhi dij efi"},
	{name: "cover-9-6-4", k: 4, sets: "abc ade afh agi bdf beg bhi cdi ceh cfg dgh efi"},
	{name: "cover-11-7-4", k: 4, sets: "abcd abgi achj adjk aefi aegk afhk bcef beik bgjk bhij cdgi cdhk cfik defj dfgh eghj"},
	{name: "cover-10-6-4", k: 4, sets: "abcd abej abgi acfg adef adhi aegh afij bcfj bchi bdfg befi bghj cdej cdgh cefh cgij degi dfhj ehij"},
	{name: "cover-12-7-4", k: 4, sets: "abcde abdfg abfil abgjk acdjk acfhl acgil adehk adhij aefij aeghl bcghl bchik bdegj befik bejkl bfhjk bfijl cdfik cefgh cefgl cehij defhl dgikl dgjkl fghij"},
	{name: "cover-9-5-4", k: 4, sets: "abcd abce abcg abdi abeh abfg acde acdg aceg acfh acfi achi adeg adfh aefi aghi bcdi bceh bcfg bdef bdgh begi bfhi cdeg cdfh cefi cghi dehi dfgi efgh"},
	{name: "cover-11-9-5", k: 5, sets: "ab ae be cd fg hi jk"},
	{name: "cover-10-8-5", k: 5, sets: "ab cd cj dj ef gh gi hi"},
	{name: "cover-9-7-5", k: 5, sets: "ab ac bc de dh eh fg fi gi"},
	{name: "cover-8-6-5", k: 5, sets: "ab ac ad bc bd cd ef eg eh fg fh gh"},
	{name: "cover-11-8-5", k: 5, sets: "abc aci ade afg ahk bfg bhi bik cde chk dek dfj dgj efj egj fgi"},
	{name: "cover-10-7-5", k: 5, sets: "abc abj adi aeg afh bde bfi bgh cdh cdj cef cgi cgj chj cij dfg dhj efj ehi gij"},
	{name: "cover-9-6-5", k: 5, sets: "abc abd abi acd adf adi aeg aeh afh agh bcd bch bdi bef beg bfg bhi cef cei cfg cfi cgi chi deg deh dfh dgh efi egh fgi"},
	{name: "cover-11-9-6", k: 6, sets: "ab af bf cd ce de gh ij ik jk"},
	{name: "cover-10-8-6", k: 6, sets: "ab af bf cd ce cj de dj ej gh gi hi"},
	{name: "cover-9-7-6", k: 6, sets: "ab ac ah ai bc bh bi ch ci de df dg ef eg fg hi"},
	{name: "cover-11-8-6", k: 6, sets: "abc abf ack adg aej afk ahi bdh bdk bei bek bgj bhk bik cde cfg cfh cfi cfj cgi chj def dhk dij egh eik fgi fhj gjk"},
}
