//go:build !purego

#include "textflag.h"

// leavesAVX512 sorts each leaf in one register of eight keys, or in two, by bitonic
// networks. Lanes after the last key hold the largest number, so they stay
// there. One layer of a network: every key meets its partner, which a shuffle brings
// to its lane; the lanes of PICK keep the larger of the two, the others the smaller.

#define DST   DI  // keys sorted by leaf
#define SRC   SI  // keys as they come
#define ENDS  BX  // the next leaf's end
#define LEFT  CX  // leaves to go
#define FROM  R8  // where this leaf begins
#define TO    R9  // and ends
#define LEN   R10 // len(src)
#define COUNT R11 // keys of this leaf
#define BITS  R12 // a bit for each

#define ODD   K1 // lanes 1, 3, 5, 7
#define UPPER K2 // lanes 2, 3, 6, 7
#define HALF  K3 // lanes 4 to 7
#define HERE  K4 // lanes that hold keys

#define LAST    Z30 // the largest number in every lane
#define REVERSE Z31 // lanes 7 to 0

// KEEP: v = smaller of v and p, or larger in the lanes of pick.
#define KEEP(v, p, t, pick) \
	VPMINUQ   p, v, t       \ // the smaller of each pair,
	VPMAXUQ   p, v, pick, t \ // but the larger where pick says so
	VMOVDQA64 t, v

// SORT: eight keys ascending. Pairs, then pairs of pairs, then all.
#define SORT(v, p, t) \
	VPSHUFD $0x4e, v, p   \ // partners: neighbours. Pairs ascend
	KEEP(v, p, t, ODD)    \
	VPERMQ  $0x1b, v, p   \ // partners: 0 and 3, 1 and 2 of each four. The lower two of four are the least
	KEEP(v, p, t, UPPER)  \
	VPSHUFD $0x4e, v, p   \ // partners: neighbours. Fours ascend
	KEEP(v, p, t, ODD)    \
	VPERMQ  v, REVERSE, p \ // partners: 0 and 7, 1 and 6 ... The lower four are the least
	KEEP(v, p, t, HALF)   \
	VPERMQ  $0x4e, v, p   \ // partners: two apart. Of each four the lower two are the least
	KEEP(v, p, t, UPPER)  \
	VPSHUFD $0x4e, v, p   \ // partners: neighbours. All eight ascend
	KEEP(v, p, t, ODD)

// MERGE: eight keys that first ascend and then descend, or the other way.
#define MERGE(v, p, t) \
	VSHUFI64X2 $0x4e, v, v, p \ // partners: four apart. The lower four are the least
	KEEP(v, p, t, HALF)       \
	VPERMQ     $0x4e, v, p    \ // partners: two apart. Of each four the lower two are the least
	KEEP(v, p, t, UPPER)      \
	VPSHUFD    $0x4e, v, p    \ // partners: neighbours. All eight ascend
	KEEP(v, p, t, ODD)

// func leavesAVX512(dst, src []uint64, ends []uint32, from uint32) (done int)
TEXT ·leavesAVX512(SB), NOSPLIT, $0-88
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ src_base+24(FP), SRC
	MOVQ src_len+32(FP), LEN
	MOVQ ends_base+48(FP), ENDS
	MOVQ ends_len+56(FP), LEFT
	MOVL start+72(FP), FROM

	// The constants: all ones is the largest number.
	VPTERNLOGD  $0xff, LAST, LAST, LAST
	MOVL        $0xaa, AX               // lanes 1, 3, 5, 7
	KMOVW       AX, ODD
	MOVL        $0xcc, AX               // lanes 2, 3, 6, 7
	KMOVW       AX, UPPER
	MOVL        $0xf0, AX               // lanes 4 to 7
	KMOVW       AX, HALF
	MOVQ        $0x0001020304050607, AX // the bytes 7, 6, ... 0, widened to lanes
	VMOVQ       AX, X31
	VPMOVZXBQ   X31, REVERSE

	TESTQ LEFT, LEFT
	JZ    done

leaf:
	MOVL (ENDS), TO                     // this leaf's end
	CMPQ TO, LEN                        // a leaf beyond src is left to the caller
	JA   done
	MOVQ TO, COUNT
	SUBQ FROM, COUNT // TO < FROM: a large number
	CMPQ COUNT, $8                      // does one register hold it?
	JA   two

	// one register: lanes below COUNT
	MOVL      $0xff, BITS               // a bit for each of the lanes that hold keys
	BZHIL     COUNT, BITS, BITS
	KMOVW     BITS, HERE
	VMOVDQA64 LAST, Z0                  // the largest number after the keys
	VMOVDQU64 (SRC)(FROM*8), HERE, Z0
	SORT(Z0, Z1, Z2)                    // ascending
	VMOVDQU64 Z0, HERE, (DST)(FROM*8)   // only the keys

next:
	MOVQ TO, FROM                       // the next leaf begins here
	ADDQ $4, ENDS                       // at the next end
	DECQ LEFT
	JNZ  leaf

done:
	MOVQ ENDS, AX                       // done leaves, whose ends have four bytes each
	SUBQ ends_base+48(FP), AX
	SHRQ $2, AX
	MOVQ AX, done+80(FP)
	VZEROUPPER                          // SSE code may follow
	RET

two:
	CMPQ COUNT, $16                     // a leaf of more than 16 is left to the caller
	JA   done

	// The first eight are in Z0, the others in Z3: both ascending, then the second
	// turned round, so that lane by lane smaller and larger make two bitonic rows.
	MOVL      $0xffff, BITS             // a bit for each lane that holds a key,
	BZHIL     COUNT, BITS, BITS
	SHRL      $8, BITS                  // of the second eight
	KMOVW     BITS, HERE
	VMOVDQU64 (SRC)(FROM*8), Z0         // the first eight keys
	VMOVDQA64 LAST, Z3                  // the largest number after the others
	VMOVDQU64 64(SRC)(FROM*8), HERE, Z3
	SORT(Z0, Z1, Z2)                    // both ascend
	SORT(Z3, Z4, Z5)
	VPERMQ    Z3, REVERSE, Z4           // the second descends
	VPMINUQ   Z4, Z0, Z1                // the eight smaller keys
	VPMAXUQ   Z4, Z0, Z3                // the eight larger ones
	MERGE(Z1, Z0, Z2)                   // each half ascends
	MERGE(Z3, Z4, Z5)
	VMOVDQU64 Z1, (DST)(FROM*8)         // the first eight
	VMOVDQU64 Z3, HERE, 64(DST)(FROM*8) // the others
	JMP       next
