//go:build !purego

#include "textflag.h"

// interpolateNEON: Interpolate, two searches a register, up to 32 registers in step. A step
// passes twice over the pairs that are open: the first time it places their guesses and prefetches the
// keys there, the second time it reads the keys and moves one end of each bracket, without a branch,
// for whether a key is smaller is anybody's guess. A prefetch retires at once, so that all 64
// misses overlap, however few instructions the processor can have waiting; loads would fill a
// Neoverse N1's 128 with four searches.
//
// A bracket begins as (-1, n-1] with the first key for the low end's, and a sought key is clamped to
// the first and the last one, so that none needs a case of its own; the answer to one above the last
// is put in at the end. A search that is closed while its neighbour is open reads an end of its
// bracket again, and nothing moves.
//
// A pair's state is on the stack, 112 bytes a pair, and after all pairs the list of open ones:
//
//	  0 low       2 x int64
//	 16 high
//	 32 lowKey    2 x uint64
//	 48 highKey
//	 64 x         2 x uint64
//	 80 moved     all ones where the low end moved last
//	 96 guess     2 x int64
//
// Counted, not timed, for each search in each step: 25 instructions where the guess is on the line,
// 22 where it is near. The division of two lanes keeps a Neoverse N1's divider for up to 14
// cycles, 7 a search, in the first three steps. A search in uniform keys takes three steps on the line
// and three or four near: 160 instructions, 40 cycles where four start in a cycle.

#define STATE   112 // bytes of a pair's state
#define HIGH    16  // offsets in it
#define X       64
#define MOVED   80
#define GUESS   96

#define KEYS    R0  // the sorted keys
#define N       R1  // how many there are
#define SOUGHT  R2  // the next sought key
#define M       R3  // sought keys to go
#define PAIR    R4  // address of a pair's state
#define LIST    R5  // addresses of the open pairs
#define END     R6  // of the list
#define AT      R7  // in the list
#define OPEN    R8  // end of the next step's list
#define STEP    R9
#define LINE    R10 // the next step on the line, from the eighth on
#define STRIDE  R11 // how far from an end the next guess is
#define T0      R12 // scratch
#define T1      R13 // scratch
#define DST     R14 // the answers

#define NONE    V20 // -1
#define FIRST   V21 // first key
#define LAST    V22 // last key
#define VN      V23 // n in both lanes
#define VSTRIDE V24 // STRIDE in both lanes
#define ONE     V25 // 1.0

// PLACE stores the guess in V4 and prefetches the keys there.
#define PLACE \
	FMOVQ F4, GUESS(PAIR) \ // the guesses of both lanes
	VMOV  V4.D[0], T0     \
	VMOV  V4.D[1], T1     \
	ADD   T0<<3, KEYS, T0 \ // where their keys lie: both are on their way
	ADD   T1<<3, KEYS, T1 \
	PRFM  (T0), PLDL1KEEP \
	PRFM  (T1), PLDL1KEEP

// SOUGHT2 loads the next two sought keys into V4, or the last one twice, and moves to them.
#define SOUGHT2(one, got) \
	CMP   $1, M             \ // one left?
	BEQ   one               \
	FMOVQ.P 16(SOUGHT), F4  \ // two
	B     got               \
one:                        \
	VLD1R (SOUGHT), [V4.D2] \ // one, in both lanes
got:

// func interpolateNEON(dst *int, keys *uint64, n int, targets *uint64, m int)
TEXT ·interpolateNEON(SB), 0, $3840-40
	// The arguments.
	MOVD  keys+8(FP), KEYS
	MOVD  n+16(FP), N
	MOVD  targets+24(FP), SOUGHT
	MOVD  m+32(FP), M
	VLD1R (KEYS), [FIRST.D2]            // the first key in both lanes
	ADD   N<<3, KEYS, T0                // the last one
	SUB   $8, T0
	VLD1R (T0), [LAST.D2]               // the last one
	VDUP  N, VN.D2                      // n in both lanes
	VCMEQ VN.D2, VN.D2, NONE.D2         // all ones: -1
	FMOVD $1.0, F25                     // 1.0 in both lanes
	VDUP  ONE.D[0], ONE.D2
	MOVD  $state-3840(SP), PAIR         // the state of the first pair
	ADD   $(32*STATE), PAIR, LIST       // the list begins after the last pair
	MOVD  LIST, END                     // and is empty

begin:
	SOUGHT2(single, pair)
	// x = min(max(x, first), last)
	WORD  $0x6ee436a5             // CMHI V4.D2, V21.D2, V5.D2: first > x
	VBIT  V5.B16, FIRST.B16, V4.B16
	WORD  $0x6ef63485             // CMHI V22.D2, V4.D2, V5.D2: x > last
	VBIT  V5.B16, LAST.B16, V4.B16
	VADD  NONE.D2, VN.D2, V1.D2         // high = n-1
	VORR  NONE.B16, NONE.B16, V0.B16    // low = -1
	VORR  FIRST.B16, FIRST.B16, V2.B16  // lowKey = the first key
	VORR  LAST.B16, LAST.B16, V3.B16    // highKey = the last
	VEOR  V5.B16, V5.B16, V5.B16        // the low end has not moved
	MOVD.P PAIR, 8(END)                 // the pair is open
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(PAIR) // low, high, lowKey, highKey
	VST1   [V4.B16, V5.B16], (PAIR)     // x, moved
	ADD   $(STATE-64), PAIR             // the next pair
	SUBS  $2, M
	BGT   begin

	MOVD $0, STEP                       // no step yet
	MOVD $8, LINE                       // the first one on the line, after the strides
	MOVD $4, STRIDE               // the first stride
	CMP  $1, N
	BEQ  answers                  // (-1, 0] is closed

step:
	// a line if step < 3 || step >= 8 && step%3 == 2
	MOVD LIST, AT
	CMP  $3, STEP                       // the first three
	BLO  line
	CMP  LINE, STEP                     // and every third from the eighth on
	BNE  strides
	ADD  $3, LINE                       // the next of those

line:
	// guess = low + (x-lowKey)/(highKey-lowKey) * width, in low+1 .. high-1. 0/0 is not a number,
	// and of that and another FMINNM takes the other.
	MOVD.P 8(AT), PAIR                  // the next open pair
	VLD1   (PAIR), [V0.B16, V1.B16, V2.B16, V3.B16] // its bracket
	FMOVQ  X(PAIR), F4                  // the sought keys
	VSUB   V0.D2, V1.D2, V5.D2          // width
	VSUB   V2.D2, V4.D2, V4.D2          // x - lowKey
	VSUB   V2.D2, V3.D2, V3.D2          // highKey - lowKey
	WORD   $0x6e61d8a5            // UCVTF V5.D2, V5.D2
	WORD   $0x6e61d884            // UCVTF V4.D2, V4.D2
	WORD   $0x6e61d863            // UCVTF V3.D2, V3.D2
	WORD   $0x6e63fc84            // FDIV V3.D2, V4.D2, V4.D2
	WORD   $0x6e65dc84            // FMUL V5.D2, V4.D2, V4.D2
	WORD   $0x4ef9d4a5            // FSUB V25.D2, V5.D2, V5.D2
	WORD   $0x4ee5c484            // FMINNM V5.D2, V4.D2, V4.D2
	WORD   $0x4e79c484            // FMAXNM V25.D2, V4.D2, V4.D2
	WORD   $0x6ee1b884            // FCVTZU V4.D2, V4.D2
	VADD   V0.D2, V4.D2, V4.D2          // low + that
	PLACE
	CMP    END, AT                      // all open pairs?
	BNE    line
	B      read

strides:
	VDUP STRIDE, VSTRIDE.D2             // in both lanes
	// stride = min(stride, n) * 8
	CMP  N, STRIDE                      // eight times, but not beyond n
	CSEL LT, STRIDE, N, STRIDE
	LSL  $3, STRIDE

near:
	// guess = low + s or high - s, s = min(stride, width/2)
	MOVD.P 8(AT), PAIR                  // the next open pair
	VLD1   (PAIR), [V0.B16, V1.B16]     // its bracket
	FMOVQ  MOVED(PAIR), F5              // which end moved
	VSUB   V0.D2, V1.D2, V4.D2          // width
	VUSHR  $1, V4.D2, V4.D2             // half of it
	WORD   $0x6ef83486            // CMHI V24.D2, V4.D2, V6.D2: half > stride
	VBIT   V6.B16, VSTRIDE.B16, V4.B16  // the smaller of stride and half
	VADD   V4.D2, V0.D2, V7.D2          // low + s
	VSUB   V4.D2, V1.D2, V4.D2          // high - s
	VBIT   V5.B16, V7.B16, V4.B16       // the one whose end moved
	PLACE
	CMP    END, AT                      // all open pairs?
	BNE    near

read:
	MOVD LIST, AT                       // the list again, from which closed pairs drop out
	MOVD LIST, OPEN

move:
	// key < x moves low, else high.
	MOVD.P 8(AT), PAIR                  // the next open pair
	LDP    GUESS(PAIR), (T0, T1)        // its guesses
	ADD    T1<<3, KEYS, T1
	FMOVD  (KEYS)(T0<<3), F7            // the key of the first
	VLD1   (T1), V7.D[1]                // and of the second
	VLD1   (PAIR), [V0.B16, V1.B16, V2.B16, V3.B16] // the bracket
	FMOVQ  X(PAIR), F4                  // the sought keys
	FMOVQ  GUESS(PAIR), F6              // the guesses
	WORD   $0x6ee73485            // CMHI V7.D2, V4.D2, V5.D2: x > key
	VBIT   V5.B16, V6.B16, V0.B16       // low = guess, where key < x
	VBIF   V5.B16, V6.B16, V1.B16       // else high = guess
	VBIT   V5.B16, V7.B16, V2.B16       // lowKey = key
	VBIF   V5.B16, V7.B16, V3.B16       // highKey = key
	VST1   [V0.B16, V1.B16, V2.B16, V3.B16], (PAIR) // the bracket is narrower
	FMOVQ  F5, MOVED(PAIR)              // and which end moved
	// It continues while a width is above 1: their sum, above 2.
	VSUB   V0.D2, V1.D2, V0.D2          // both widths
	VADDP  V0.D2, V0.D2, V0.D2          // summed
	FMOVD  F0, T0
	MOVD   PAIR, (OPEN)                 // the pair stays on the list if either width is above 1
	CMP    $2, T0
	CSET   HI, T0
	ADD    T0<<3, OPEN
	CMP    END, AT                      // all open pairs?
	BNE    move

	MOVD OPEN, END                      // the new end of the list
	ADD  $1, STEP                       // the next step
	CMP  LIST, END                      // if any pair is open
	BNE  step

answers:
	// Every bracket is closed: the answer is its high end, or n.
	// The arguments again: answers are given in their order.
	MOVD dst+0(FP), DST
	MOVD targets+24(FP), SOUGHT
	MOVD m+32(FP), M
	MOVD $state-3840(SP), PAIR

answer:
	SOUGHT2(half, both)
	FMOVQ HIGH(PAIR), F1                // the high ends
	WORD  $0x6ef63485             // CMHI V22.D2, V4.D2, V5.D2: x > last
	VBIT  V5.B16, VN.B16, V1.B16        // n where x is beyond the last key
	ADD   $STATE, PAIR                  // the next pair
	SUBS  $2, M                         // how many are left?
	BLT   odd
	FMOVQ.P F1, 16(DST)                 // two answers
	BGT   answer
	RET

odd:
	FMOVD F1, (DST)                     // one answer
	RET
