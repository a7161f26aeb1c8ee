package permute

// mixed are families of tables with different radii over overlapping sets of blocks, for which neither
// parts nor weave would do: in the terms of the literature lottery designs (every ticket of k
// numbers shares k-r with some block), but with a radius for each set, and with tickets that may hold a
// number more than once, since a block may have more than one error. The name says k and the radii, one
// digit for each table. Some have a reason that fits in a line:
//
//   - mixed-3-1000..., mixed-4-10000..: 1 error in ab is found at once, 2 or more leave k-2 for a
//     covering of the other blocks;
//   - mixed-5-1111111: the lines of the Fano plane. If 5 blocks have an error, the line through the
//     other two has only one more block. If fewer have, a line is free of errors, or three blocks free
//     of errors lie on three lines with one more block each, which cannot all have 2 errors;
//   - mixed-5-11111111111111: the planes of AG(3, 2), as in cover-8-4-3.
//
// All of them are proven by [Design.Validate] in the tests, and none of their tables and radii can be
// spared. To find them again: go run ./permute/internal/search -k 4 -sweep 1x1-6,0x0-6 -most 9, and so
// on for the radii in the names.
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
	{name: "mixed-5-11111111111111", k: 5, sets: "abcd1 abeh1 abfg1 acef1 acgh1 adeg1 adfh1 bceg1 bcfh1 bdef1 bdgh1 cdeh1 cdfg1 efgh1"},
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
