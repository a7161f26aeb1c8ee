//go:build !purego

#include "textflag.h"

// votesNEON keeps 64 byte-wide counters in four registers. Each byte of a hash is
// repeated over 8 lanes, lane i tests bit i, and the test's 0 or -1 is subtracted
// from the counters. After 255 hashes the bytes are added to counts.

#define COUNTS R0
#define HASHES R1
#define LEN    R2 // hashes to go
#define TURN   R3 // hashes of this turn
#define T0     R4
#define T1     R5
#define FROM   R6
#define TO     R7
#define I      R8

#define BIT    V31

DATA eachByte<>+0(SB)/8, $0x0000000000000000
DATA eachByte<>+8(SB)/8, $0x0101010101010101
DATA eachByte<>+16(SB)/8, $0x0202020202020202
DATA eachByte<>+24(SB)/8, $0x0303030303030303
DATA eachByte<>+32(SB)/8, $0x0404040404040404
DATA eachByte<>+40(SB)/8, $0x0505050505050505
DATA eachByte<>+48(SB)/8, $0x0606060606060606
DATA eachByte<>+56(SB)/8, $0x0707070707070707
GLOBL eachByte<>(SB), RODATA|NOPTR, $64

DATA bits8<>+0(SB)/8, $0x8040201008040201
DATA bits8<>+8(SB)/8, $0x8040201008040201
GLOBL bits8<>(SB), RODATA|NOPTR, $16

// func votesNEON(counts *[64]uint64, hashes []uint64)
TEXT ·votesNEON(SB), NOSPLIT, $64-32
	MOVD counts+0(FP), COUNTS
	MOVD hashes_base+8(FP), HASHES
	MOVD hashes_len+16(FP), LEN
	MOVD $eachByte<>(SB), T0
	VLD1 (T0), [V24.B16, V25.B16, V26.B16, V27.B16]
	MOVD $bits8<>(SB), T0
	VLD1 (T0), [BIT.B16]

turn:
	CBZ  LEN, done
	MOVD $255, TURN
	CMP  TURN, LEN
	CSEL LO, LEN, TURN, TURN
	SUB  TURN, LEN
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

hash:
	FMOVD (HASHES), F4
	ADD  $8, HASHES
	VTBL V24.B16, [V4.B16], V16.B16
	VTBL V25.B16, [V4.B16], V17.B16
	VTBL V26.B16, [V4.B16], V18.B16
	VTBL V27.B16, [V4.B16], V19.B16
	VCMTST BIT.B16, V16.B16, V16.B16
	VCMTST BIT.B16, V17.B16, V17.B16
	VCMTST BIT.B16, V18.B16, V18.B16
	VCMTST BIT.B16, V19.B16, V19.B16
	VSUB V16.B16, V0.B16, V0.B16
	VSUB V17.B16, V1.B16, V1.B16
	VSUB V18.B16, V2.B16, V2.B16
	VSUB V19.B16, V3.B16, V3.B16
	SUBS $1, TURN
	BNE  hash

	MOVD $bytes-64(SP), FROM
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (FROM)
	MOVD COUNTS, TO
	MOVD $64, I

add:
	MOVBU.P 1(FROM), T0
	MOVD (TO), T1
	ADD  T0, T1
	MOVD.P T1, 8(TO)
	SUBS $1, I
	BNE  add
	B    turn

done:
	RET

// weightedVotesNEON keeps 64 counters of 16 bits in eight registers: a quarter of
// the hash is repeated over 8 lanes twice, lane i keeps the weight if its bit is
// set. Before the weights of a stretch add up to more than 65,535 the counters are
// added to counts.

#define WEIGHTS R9
#define SUM     R10 // of the weights since then
#define WEIGHT  R11
#define MOST    R12 // 65,535

#define LOBITS  V30
#define HIBITS  V31
#define VWEIGHT V29

DATA bits16<>+0(SB)/8, $0x0008000400020001
DATA bits16<>+8(SB)/8, $0x0080004000200010
DATA bits16<>+16(SB)/8, $0x0800040002000100
DATA bits16<>+24(SB)/8, $0x8000400020001000
GLOBL bits16<>(SB), RODATA|NOPTR, $32

// Adds the weight to the counters lo and hi of quarter i of the hash.
#define WEIGH(i, lo, hi) \
	VDUP   V16.H[i], V17.H8           \
	VCMTST LOBITS.H8, V17.H8, V18.H8  \
	VCMTST HIBITS.H8, V17.H8, V19.H8  \
	VAND   VWEIGHT.B16, V18.B16, V18.B16 \
	VAND   VWEIGHT.B16, V19.B16, V19.B16 \
	VADD   V18.H8, lo.H8, lo.H8       \
	VADD   V19.H8, hi.H8, hi.H8

// func weightedVotesNEON(counts *[64]uint64, hashes []uint64, weights []uint32) bool
TEXT ·weightedVotesNEON(SB), NOSPLIT, $128-57
	MOVD counts+0(FP), COUNTS
	MOVD hashes_base+8(FP), HASHES
	MOVD hashes_len+16(FP), LEN
	MOVD weights_base+32(FP), WEIGHTS
	MOVD $0xffff, MOST

	// Is any weight too heavy?
	MOVD WEIGHTS, FROM
	MOVD LEN, I
	MOVD $0, T1

look:
	CBZ  I, looked
	MOVWU.P 4(FROM), T0
	ORR  T0, T1
	SUB  $1, I
	B    look

looked:
	CMP  MOST, T1
	BHI  heavy

	MOVD $bits16<>(SB), T0
	VLD1 (T0), [LOBITS.B16, HIBITS.B16]

clear:
	VEOR V0.B16, V0.B16, V0.B16
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
	MOVWU (WEIGHTS), WEIGHT
	ADD   WEIGHT, SUM
	CMP   MOST, SUM
	BHI   flush
	ADD   $4, WEIGHTS
	VDUP  WEIGHT, VWEIGHT.H8
	FMOVD (HASHES), F16
	ADD   $8, HASHES
	WEIGH(0, V0, V1)
	WEIGH(1, V2, V3)
	WEIGH(2, V4, V5)
	WEIGH(3, V6, V7)
	SUB   $1, LEN
	B     weigh

flush:
	MOVD $words-128(SP), FROM
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(FROM)
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(FROM)
	SUB  $128, FROM
	MOVD COUNTS, TO
	MOVD $64, I

add:
	MOVHU.P 2(FROM), T0
	MOVD (TO), T1
	ADD  T0, T1
	MOVD.P T1, 8(TO)
	SUBS $1, I
	BNE  add
	CBNZ LEN, clear
	MOVD $1, T0
	MOVB T0, ret+56(FP)
	RET

heavy:
	MOVB ZR, ret+56(FP)
	RET
