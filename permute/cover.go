package permute

// coverings are covering designs C(v, b, t): sets of b of v points, such that any t points are in
// one of them. Here the points are blocks of bits and the sets are what follows the leading bits: a set
// that holds every block with an error leaves a table whose v-b leading blocks have none. The words
// below are the leading blocks, the complements of the sets of the literature (the La Jolla Covering
// Repository lists the best known; Gordon, Kuperberg, Patashnik, "New constructions for covering
// designs", 1995, says where they come from). In the language of hypergraphs they are families of sets
// that no t points all meet.
var coverings = []scheme{
	// Two triangles' worth of edges: a triangle takes 2 points to meet, an edge 1: 2+1+1 = 4 > 3.
	{name: "cover-7-5-3", k: 3, sets: "ab ac bc de fg"},
	// Two triangles: 2+2 points.
	{name: "cover-6-4-3", k: 3, sets: "ab ac bc de df ef"},
	// Two complete 3-graphs on 4 points: 2+2 points.
	{name: "cover-8-5-3", k: 3, sets: "abc abd acd bcd efg efh egh fgh"},
	// The biplane of order 3: the quadratic residues modulo 11 and their translates.
	{name: "cover-11-6-3", k: 3, sets: "bdefj cefgk adfgh beghi cfhij dgijk aehjk abfik abcgj bcdhk acdei"},
	// The planes of the affine space AG(3, 2).
	{name: "cover-8-4-3", k: 3, sets: "abcd abef abgh aceg acfh adeh adfg bceh bcfg bdeg bdfh cdef cdgh efgh"},
}
