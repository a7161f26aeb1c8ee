//go:build !purego

#include "textflag.h"

// leavesAVX512 sorts each leaf in one register of eight keys, or in two, by bitonic
// networks. Lanes behind the last key hold the largest number there is, so they stay
// there. One layer of a network: every key meets its partner, which a shuffle brings
// to its lane; the lanes of PICK keep the larger of the two, the others the smaller.

#define DST   DI
#define SRC   SI
#define ENDS  BX
#define LEFT  CX
#define FROM  R8
#define TO    R9
#define LEN   R10
#define COUNT R11
#define BITS  R12

#define ODD   K1 // lanes 1, 3, 5, 7
#define UPPER K2 // lanes 2, 3, 6, 7
#define HALF  K3 // lanes 4 to 7
#define HERE  K4 // lanes that hold keys

#define LAST    Z30 // the largest number in every lane
#define REVERSE Z31 // lanes 7 to 0

// KEEP: v = smaller of v and p, or larger in the lanes of pick.
#define KEEP(v, p, t, pick) \
	VPMINUQ   p, v, t       \
	VPMAXUQ   p, v, pick, t \
	VMOVDQA64 t, v

// SORT: eight keys ascending. Pairs, then pairs of pairs, then all.
#define SORT(v, p, t) \
	VPSHUFD $0x4e, v, p       \
	KEEP(v, p, t, ODD)        \
	VPERMQ  $0x1b, v, p       \
	KEEP(v, p, t, UPPER)      \
	VPSHUFD $0x4e, v, p       \
	KEEP(v, p, t, ODD)        \
	VPERMQ  v, REVERSE, p     \
	KEEP(v, p, t, HALF)       \
	VPERMQ  $0x4e, v, p       \
	KEEP(v, p, t, UPPER)      \
	VPSHUFD $0x4e, v, p       \
	KEEP(v, p, t, ODD)

// MERGE: eight keys that first ascend and then descend, or the other way.
#define MERGE(v, p, t) \
	VSHUFI64X2 $0x4e, v, v, p \
	KEEP(v, p, t, HALF)       \
	VPERMQ     $0x4e, v, p    \
	KEEP(v, p, t, UPPER)      \
	VPSHUFD    $0x4e, v, p    \
	KEEP(v, p, t, ODD)

// func leavesAVX512(dst, src []uint64, ends []uint32, from uint32) (done int)
TEXT ·leavesAVX512(SB), NOSPLIT, $0-88
	MOVQ dst_base+0(FP), DST
	MOVQ src_base+24(FP), SRC
	MOVQ src_len+32(FP), LEN
	MOVQ ends_base+48(FP), ENDS
	MOVQ ends_len+56(FP), LEFT
	MOVL from+72(FP), FROM

	VPTERNLOGD  $0xff, LAST, LAST, LAST
	MOVL        $0xaa, AX
	KMOVW       AX, ODD
	MOVL        $0xcc, AX
	KMOVW       AX, UPPER
	MOVL        $0xf0, AX
	KMOVW       AX, HALF
	MOVQ        $0x0001020304050607, AX
	VMOVQ       AX, X31
	VPMOVZXBQ   X31, REVERSE

	TESTQ LEFT, LEFT
	JZ    done

leaf:
	MOVL (ENDS), TO
	CMPQ TO, LEN
	JA   done
	MOVQ TO, COUNT
	SUBQ FROM, COUNT // TO < FROM: a large number
	CMPQ COUNT, $8
	JA   two

	// one register: lanes below COUNT
	MOVL      $0xff, BITS
	BZHIL     COUNT, BITS, BITS
	KMOVW     BITS, HERE
	VMOVDQA64 LAST, Z0
	VMOVDQU64 (SRC)(FROM*8), HERE, Z0
	SORT(Z0, Z1, Z2)
	VMOVDQU64 Z0, HERE, (DST)(FROM*8)

next:
	MOVQ TO, FROM
	ADDQ $4, ENDS
	DECQ LEFT
	JNZ  leaf

done:
	MOVQ ENDS, AX
	SUBQ ends_base+48(FP), AX
	SHRQ $2, AX
	MOVQ AX, done+80(FP)
	VZEROUPPER
	RET

two:
	CMPQ COUNT, $16
	JA   done

	// The first eight lie in Z0, the others in Z3: both ascending, then the second
	// turned round, so that lane by lane smaller and larger make two bitonic rows.
	MOVL      $0xffff, BITS
	BZHIL     COUNT, BITS, BITS
	SHRL      $8, BITS
	KMOVW     BITS, HERE
	VMOVDQU64 (SRC)(FROM*8), Z0
	VMOVDQA64 LAST, Z3
	VMOVDQU64 64(SRC)(FROM*8), HERE, Z3
	SORT(Z0, Z1, Z2)
	SORT(Z3, Z4, Z5)
	VPERMQ    Z3, REVERSE, Z4
	VPMINUQ   Z4, Z0, Z1
	VPMAXUQ   Z4, Z0, Z3
	MERGE(Z1, Z0, Z2)
	MERGE(Z3, Z4, Z5)
	VMOVDQU64 Z1, (DST)(FROM*8)
	VMOVDQU64 Z3, HERE, 64(DST)(FROM*8)
	JMP       next
