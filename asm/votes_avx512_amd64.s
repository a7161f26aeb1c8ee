//go:build !purego

#include "textflag.h"

// weightedVotesAVX512 reads a hash as four masks of 16 lanes and adds its weight
// in those of four registers of 32-bit counters. Weights below 2^16 and at most
// 2^13 of them (votesHeavy, votesCall) keep the sums below 2^32.

#define COUNTS  DI // the 64 sums
#define HASHES  SI // the next hash
#define LEN     CX // hashes to go
#define WEIGHTS DX // the next weight

// Adds 16 counters of 32 bits to 16 of 64 bits.
#define STORE(y, z, at) \
	VEXTRACTI64X4 $1, z, Y9             \ // the upper eight
	VPMOVZXDQ     y, Z8                 \ // widened
	VPMOVZXDQ     Y9, Z9                \
	VPADDQ        at+0(COUNTS), Z8, Z8  \ // to their sums
	VPADDQ        at+64(COUNTS), Z9, Z9 \
	VMOVDQU64     Z8, at+0(COUNTS)      \
	VMOVDQU64     Z9, at+64(COUNTS)

// func weightedVotesAVX512(counts *[64]uint64, hashes []uint64, weights []uint32) bool
TEXT ·weightedVotesAVX512(SB), NOSPLIT, $0-57
	// The arguments.
	MOVQ counts+0(FP), COUNTS
	MOVQ hashes_base+8(FP), HASHES
	MOVQ hashes_len+16(FP), LEN
	MOVQ weights_base+32(FP), WEIGHTS

	// Is any weight too heavy?
	VPXORQ X3, X3, X3                   // ORs of the weights
	XORL  AX, AX

look:
	MOVQ  LEN, R8                       // weights left
	SUBQ  AX, R8
	JLS   looked
	MOVL  $0xffff, R9                   // 16 of them, or fewer
	CMPQ  R8, $16
	JCC   full
	BZHIL R8, R9, R9

full:
	KMOVW R9, K1
	VPORD (WEIGHTS)(AX*4), Z3, K1, Z3   // ORed
	ADDQ  $16, AX
	JMP   look

looked:
	MOVL  $~0xffff, R8                  // is any weight 2^16 or more?
	VPBROADCASTD R8, Z8
	VPTESTMD Z8, Z3, K1
	KORTESTW K1, K1
	JNZ   heavy

	VPXORQ X4, X4, X4                   // no sums yet
	VPXORQ X5, X5, X5
	VPXORQ X6, X6, X6
	VPXORQ X7, X7, X7
	TESTQ LEN, LEN
	JZ    store

	PCALIGN $32
weigh:
	KMOVW 0(HASHES), K1                 // bits 0 to 15 of the hash
	KMOVW 2(HASHES), K2                 // bits 16 to 31
	KMOVW 4(HASHES), K3                 // bits 32 to 47
	KMOVW 6(HASHES), K4                 // bits 48 to 63
	VPADDD.BCST (WEIGHTS), Z4, K1, Z4   // the weight where they are set
	VPADDD.BCST (WEIGHTS), Z5, K2, Z5
	VPADDD.BCST (WEIGHTS), Z6, K3, Z6
	VPADDD.BCST (WEIGHTS), Z7, K4, Z7
	ADDQ  $8, HASHES                    // the next hash
	ADDQ  $4, WEIGHTS
	DECQ  LEN
	JNZ   weigh

store:
	STORE(Y4, Z4, 0)                    // bits 0-15
	STORE(Y5, Z5, 128)                  // bits 16-31
	STORE(Y6, Z6, 256)                  // bits 32-47
	STORE(Y7, Z7, 384)                  // bits 48-63
	MOVB $1, ret+56(FP)                 // all are done
	VZEROUPPER
	RET

heavy:
	MOVB $0, ret+56(FP)                 // false: nothing is done
	VZEROUPPER
	RET
