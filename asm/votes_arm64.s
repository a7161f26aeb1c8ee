//go:build !purego

#include "textflag.h"

// weightedVotesNEON keeps 64 counters of 16 bits in eight registers: a quarter of
// the hash is repeated over 8 lanes twice, lane i keeps the weight if its bit is
// set. Before the weights of some hashes add up to more than 65,535 the counters are
// added to counts.

#define COUNTS  R0  // the 64 sums
#define HASHES  R1  // the next hash
#define LEN     R2  // hashes to go
#define T0      R4  // scratch
#define T1      R5  // scratch
#define FROM    R6  // the counters, in memory
#define TO      R7  // the sums they are added to
#define I       R8  // counters to go
#define WEIGHTS R9  // the next weight
#define SUM     R10 // of the weights since then
#define WEIGHT  R11 // of this hash
#define MOST    R12 // 65,535

#define LOBITS  V30 // bits 0 to 7 of a quarter
#define HIBITS  V31 // bits 8 to 15
#define VWEIGHT V29 // the weight in every lane

DATA bits16<>+0(SB)/8, $0x0008000400020001
DATA bits16<>+8(SB)/8, $0x0080004000200010
DATA bits16<>+16(SB)/8, $0x0800040002000100
DATA bits16<>+24(SB)/8, $0x8000400020001000
GLOBL bits16<>(SB), RODATA|NOPTR, $32

// Adds the weight to the counters lo and hi of quarter i of the hash.
#define WEIGH(i, lo, hi) \
	VDUP   V16.H[i], V17.H8              \ // the quarter in eight lanes
	VCMTST LOBITS.H8, V17.H8, V18.H8     \ // all ones where bit i is set
	VCMTST HIBITS.H8, V17.H8, V19.H8     \ // and bit i+8
	VAND   VWEIGHT.B16, V18.B16, V18.B16 \ // the weight, or 0
	VAND   VWEIGHT.B16, V19.B16, V19.B16 \
	VADD   V18.H8, lo.H8, lo.H8          \ // added
	VADD   V19.H8, hi.H8, hi.H8

// func weightedVotesNEON(counts *[64]uint64, hashes []uint64, weights []uint32) bool
TEXT ·weightedVotesNEON(SB), NOSPLIT, $128-57
	// The arguments.
	MOVD counts+0(FP), COUNTS
	MOVD hashes_base+8(FP), HASHES
	MOVD hashes_len+16(FP), LEN
	MOVD weights_base+32(FP), WEIGHTS
	MOVD $0xffff, MOST                  // the largest weight, and the largest sum

	// Is any weight too heavy?
	MOVD WEIGHTS, FROM
	MOVD LEN, I
	MOVD $0, T1

look:
	CBZ  I, looked
	MOVWU.P 4(FROM), T0                 // the weights
	ORR  T0, T1                         // ORed
	SUB  $1, I
	B    look

looked:
	CMP  MOST, T1                       // a bit above the 16th?
	BHI  heavy

	// The bits of the lanes.
	MOVD $bits16<>(SB), T0
	VLD1 (T0), [LOBITS.B16, HIBITS.B16]

clear:
	VEOR V0.B16, V0.B16, V0.B16         // no weights yet
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD $0, SUM

weigh:
	CBZ   LEN, flush
	MOVWU (WEIGHTS), WEIGHT             // the next weight
	ADD   WEIGHT, SUM                   // would a counter overflow?
	CMP   MOST, SUM
	BHI   flush
	ADD   $4, WEIGHTS
	VDUP  WEIGHT, VWEIGHT.H8            // in every lane
	FMOVD (HASHES), F16                 // the hash
	ADD   $8, HASHES
	WEIGH(0, V0, V1)                    // bits 0 to 15
	WEIGH(1, V2, V3)                    // bits 16 to 31
	WEIGH(2, V4, V5)                    // bits 32 to 47
	WEIGH(3, V6, V7)                    // bits 48 to 63
	SUB   $1, LEN                       // the next hash
	B     weigh

flush:
	// The 64 counters go to memory and are added one by one.
	MOVD $words-128(SP), FROM
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(FROM)
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(FROM)
	SUB  $128, FROM
	MOVD COUNTS, TO
	MOVD $64, I

add:
	MOVHU.P 2(FROM), T0                 // a counter
	MOVD (TO), T1                       // its sum
	ADD  T0, T1
	MOVD.P T1, 8(TO)                    // together
	SUBS $1, I
	BNE  add
	CBNZ LEN, clear                     // go on with empty counters
	MOVD $1, T0                         // all are done
	MOVB T0, ret+56(FP)
	RET

heavy:
	MOVB ZR, ret+56(FP)                 // false: nothing is done
	RET
