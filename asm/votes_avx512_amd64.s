//go:build !purego

#include "textflag.h"

// votesAVX512 adds 64 hashes, 8 registers, a round with carry-save adders of two
// VPTERNLOGs each: ONES, TWOS and FOURS hold bit 0, 1 and 2 of 8 x 64 counters. What
// carries out of FOURS is 8 words worth 8 each. A word read as a mask of 64 byte
// lanes adds 1 in those: Z0 and Z1 hold 64 byte-wide counters each, taking turns.
// A round adds 8 to the sum of both, so after 31 rounds, 248, it is added to Z4-Z7.
// What is left in FOURS, TWOS and ONES and the last hashes, at most 8*4+8*2+8+63 = 119,
// go the same way in the end.
//
//	bit      63 ... 48   47 ... 32   31 ... 16   15 ... 0
//	bytes    ------------------- Z0, Z1 -----------------
//	dwords       Z7          Z6          Z5          Z4

#define COUNTS DI // the 64 sums
#define HASHES SI // the next hash
#define LEN    CX // hashes to go
#define TURN   AX // rounds until the bytes are widened

#define ONES   Z20 // votes worth 1
#define TWOS   Z21 // votes worth 2
#define FOURS  Z22 // votes worth 4

// sum, carry := sum+a+b
#define CSA(sum, a, b, carry) \
	VMOVDQA64  sum, carry         \ // carry = the majority of the three
	VPTERNLOGQ $0xe8, a, b, carry \
	VPTERNLOGQ $0x96, a, b, sum     // sum = the XOR of the three

// Adds the 8 words of z to the byte counters.
#define SPREAD8(z) \
	VMOVDQU64 z, words-64(SP)  \ // words become masks by way of memory
	KMOVQ     words-64(SP), K1 \ // word 0
	KMOVQ     words-56(SP), K2 \ // word 1
	KMOVQ     words-48(SP), K3 \ // word 2
	KMOVQ     words-40(SP), K4 \ // word 3
	KMOVQ     words-32(SP), K5 \ // word 4
	KMOVQ     words-24(SP), K6 \ // word 5
	VPADDB    Z2, Z0, K1, Z0   \ // one vote where word 0 has a bit
	VPADDB    Z2, Z1, K2, Z1   \ // word 1, in the other bytes
	KMOVQ     words-16(SP), K1 \ // word 6
	KMOVQ     words-8(SP), K2  \ // word 7
	VPADDB    Z2, Z0, K3, Z0   \ // word 2
	VPADDB    Z2, Z1, K4, Z1   \ // word 3
	VPADDB    Z2, Z0, K5, Z0   \ // word 4
	VPADDB    Z2, Z1, K6, Z1   \ // word 5
	VPADDB    Z2, Z0, K1, Z0   \ // word 6
	VPADDB    Z2, Z1, K2, Z1     // word 7

#define WIDEN \
	VPADDB        Z1, Z0, Z0  \ // both sets of bytes
	VEXTRACTI32X4 $1, Z0, X9  \ // bits 16-31
	VEXTRACTI32X4 $2, Z0, X10 \ // bits 32-47
	VEXTRACTI32X4 $3, Z0, X11 \ // bits 48-63
	VPMOVZXBD     X0, Z8      \ // widened
	VPMOVZXBD     X9, Z9      \
	VPMOVZXBD     X10, Z10    \
	VPMOVZXBD     X11, Z11    \
	VPADDD        Z8, Z4, Z4  \ // added
	VPADDD        Z9, Z5, Z5  \
	VPADDD        Z10, Z6, Z6 \
	VPADDD        Z11, Z7, Z7 \
	VPXORQ        X0, X0, X0  \ // no votes in bytes any more
	VPXORQ        X1, X1, X1

// Adds 16 counters of 32 bits to 16 of 64 bits.
#define STORE(y, z, at) \
	VEXTRACTI64X4 $1, z, Y9             \ // the upper eight
	VPMOVZXDQ     y, Z8                 \ // widened
	VPMOVZXDQ     Y9, Z9                \
	VPADDQ        at+0(COUNTS), Z8, Z8  \ // to their sums
	VPADDQ        at+64(COUNTS), Z9, Z9 \
	VMOVDQU64     Z8, at+0(COUNTS)      \
	VMOVDQU64     Z9, at+64(COUNTS)

DATA one<>+0(SB)/1, $1
GLOBL one<>(SB), RODATA|NOPTR, $1

// func votesAVX512(counts *[64]uint64, hashes []uint64)
TEXT ·votesAVX512(SB), NOSPLIT, $64-32
	// The arguments.
	MOVQ counts+0(FP), COUNTS
	MOVQ hashes_base+8(FP), HASHES
	MOVQ hashes_len+16(FP), LEN
	VPXORQ X0, X0, X0                   // no votes yet
	VPXORQ X1, X1, X1
	VPXORQ X4, X4, X4                   // in dwords neither
	VPXORQ X5, X5, X5
	VPXORQ X6, X6, X6
	VPXORQ X7, X7, X7
	VPBROADCASTB one<>(SB), Z2          // 1 in every byte
	SUBQ $64, LEN                       // 64 hashes?
	JCS  few
	VPXORQ ONES, ONES, ONES             // no carries yet
	VPXORQ TWOS, TWOS, TWOS
	VPXORQ FOURS, FOURS, FOURS
	MOVL $31, TURN                      // rounds that a byte has room for

	PCALIGN $32
round:
	// 64 hashes.
	VMOVDQU64 0(HASHES), Z8
	VMOVDQU64 64(HASHES), Z9
	VMOVDQU64 128(HASHES), Z10
	VMOVDQU64 192(HASHES), Z11
	VMOVDQU64 256(HASHES), Z12
	VMOVDQU64 320(HASHES), Z13
	VMOVDQU64 384(HASHES), Z14
	VMOVDQU64 448(HASHES), Z15
	// Eight registers become one of votes worth eight: an adder takes three of a worth, and gives one of it and one of the double.
	CSA(ONES, Z8, Z9, Z16)              // Z16: worth 2
	CSA(ONES, Z10, Z11, Z17)            // Z17
	CSA(ONES, Z12, Z13, Z18)            // Z18
	CSA(ONES, Z14, Z15, Z19)            // Z19
	CSA(TWOS, Z16, Z17, Z8)             // Z8: worth 4
	CSA(TWOS, Z18, Z19, Z9)             // Z9
	CSA(FOURS, Z8, Z9, Z10)             // Z10: worth 8
	SPREAD8(Z10)                        // to the bytes
	ADDQ $512, HASHES
	DECL TURN                           // do the bytes overflow in the next round?
	JNZ  more
	WIDEN
	MOVL $31, TURN

more:
	SUBQ $64, LEN                       // 64 more?
	JCC  round
	WIDEN                               // these were worth 8 a vote
	VPSLLD $3, Z4, Z4
	VPSLLD $3, Z5, Z5
	VPSLLD $3, Z6, Z6
	VPSLLD $3, Z7, Z7
	SPREAD8(FOURS)                      // fours, doubled twice
	VPADDB Z0, Z0, Z0
	VPADDB Z1, Z1, Z1
	SPREAD8(TWOS)                       // twos, doubled once
	VPADDB Z0, Z0, Z0
	VPADDB Z1, Z1, Z1
	SPREAD8(ONES)                       // ones

few:
	ADDQ $64, LEN                       // 0 to 63 hashes are left

eight:
	SUBQ  $8, LEN                       // eight of them?
	JCS   tail
	// A hash is a mask of 64 bytes by itself.
	KMOVQ 0(HASHES), K1
	KMOVQ 8(HASHES), K2
	KMOVQ 16(HASHES), K3
	KMOVQ 24(HASHES), K4
	KMOVQ 32(HASHES), K5
	KMOVQ 40(HASHES), K6
	KMOVQ 48(HASHES), K7
	VPADDB Z2, Z0, K1, Z0               // one vote each, in turn to Z0 and Z1
	VPADDB Z2, Z1, K2, Z1
	VPADDB Z2, Z0, K3, Z0
	VPADDB Z2, Z1, K4, Z1
	KMOVQ 56(HASHES), K1
	VPADDB Z2, Z0, K5, Z0
	VPADDB Z2, Z1, K6, Z1
	VPADDB Z2, Z0, K7, Z0
	VPADDB Z2, Z1, K1, Z1
	ADDQ  $64, HASHES
	JMP   eight

tail:
	ADDQ  $8, LEN                       // 0 to 7 are left
	JZ    end

last:
	KMOVQ (HASHES), K1                  // one hash
	VPADDB Z2, Z0, K1, Z0               // its votes
	ADDQ  $8, HASHES
	DECQ  LEN
	JNZ   last

end:
	WIDEN                               // the last bytes
	STORE(Y4, Z4, 0)                    // bits 0-15
	STORE(Y5, Z5, 128)                  // bits 16-31
	STORE(Y6, Z6, 256)                  // bits 32-47
	STORE(Y7, Z7, 384)                  // bits 48-63
	VZEROUPPER
	RET

// weightedVotesAVX512 reads a hash as four masks of 16 lanes and adds its weight
// in those of four registers of 32-bit counters. Weights below 2^16 and at most
// 2^13 of them (votesHeavy, votesCall) keep the sums below 2^32.

#define WEIGHTS DX // the next weight

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
