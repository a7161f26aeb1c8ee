//go:build !purego

#include "textflag.h"

// interpolateAVX2: interpolateAVX512, four searches a register, up to 16
// registers in step. What AVX2 lacks is made of what it has:
//
//	unsigned comparison    keys are kept with their top bit flipped and compared as signed;
//	                       differences are the same either way
//	uint64 to float64      the halves go into the mantissas of 2^84 and 2^52, which are taken off again
//	float64 to int64       adding 2^52 puts the whole number, rounded, into the low bits;
//	                       bounds are applied before, to the float64
//	masks                  vectors of 0 and -1
//
// A group's state is on the stack, 224 bytes a group: sought and keys with
// their top bits flipped, open and moved as vectors. m is a multiple of four.

#define STATE   224 // bytes of a group's state
#define LOW     0   // offsets in it
#define HIGH    32
#define LOWKEY  64
#define HIGHKEY 96
#define OPEN    128
#define MOVED   160
#define SOUGHTX 192

#define KEYS    SI  // the sorted keys
#define SOUGHT  DX  // the sought keys
#define N       R8  // how many keys there are
#define M       R9  // how many are sought
#define GROUP   R10 // the group's state
#define X       R11 // the group's sought keys
#define LEFT    R12 // sought keys from this group on
#define ANY     R13 // whether any search was open in this step
#define STEP    R15 // number of the step
#define STRIDE  BX  // how far from an end the next guess is
#define LINE    DI  // whether this step is on the line

#define ONE     Y15 // int64 1
#define SIGN    Y14 // 1<<63
#define TWO52   Y13 // float64 2^52
#define TWO84   Y12 // float64 2^84
#define TWO8452 Y11 // float64 2^84 + 2^52
#define FLOAT1  Y10 // float64 1
#define ZSTRIDE Y9  // STRIDE in every lane

#define CONSTANT(value, x, y) \
	MOVQ         $value, AX \ // by a general register
	VMOVQ        AX, x      \
	VPBROADCASTQ x, y         // to every lane

// FLOAT makes float64s of the uint64s in v: (hi - (2^84+2^52)) + lo.
#define FLOAT(v, t) \
	VPSRLQ   $32, v, t          \ // the upper halves, as the low bits of 2^84's mantissa
	VPOR     TWO84, t, t        \
	VPBLENDD $0xaa, TWO52, v, v \ // the lower halves, as those of 2^52's
	VSUBPD   TWO8452, t, t      \ // less both powers
	VADDPD   t, v, v              // together

// func interpolateAVX2(dst *int, keys *uint64, n int, targets *uint64, m int)
TEXT ·interpolateAVX2(SB), 0, $3584-40
	// The arguments.
	MOVQ keys+8(FP), KEYS
	MOVQ n+16(FP), N
	MOVQ targets+24(FP), SOUGHT
	MOVQ m+32(FP), M

	// The constants.
	CONSTANT(1, X15, ONE)
	CONSTANT(0x8000000000000000, X14, SIGN)
	CONSTANT(0x4330000000000000, X13, TWO52)
	CONSTANT(0x4530000000000000, X12, TWO84)
	CONSTANT(0x4530000000100000, X11, TWO8452)
	CONSTANT(0x3ff0000000000000, X10, FLOAT1)

	// Y3 first key, Y4 last key, Y5 n-1, Y6 n
	VPBROADCASTQ (KEYS), Y3             // the first key
	VPXOR        SIGN, Y3, Y3
	VPBROADCASTQ -8(KEYS)(N*8), Y4      // the last
	VPXOR        SIGN, Y4, Y4
	VMOVQ        N, X6                  // n
	VPBROADCASTQ X6, Y6
	VPSUBQ       ONE, Y6, Y5            // n-1

	// The groups, one after the other.
	LEAQ state-3584(SP), GROUP
	MOVQ SOUGHT, X
	MOVQ M, LEFT

begin:
	VPXOR      (X), SIGN, Y0            // the sought keys
	VPXOR      Y8, Y8, Y8               // 0
	VPCMPEQQ   Y7, Y7, Y7               // all ones
	VMOVDQU    Y0, SOUGHTX(GROUP)       // kept
	VMOVDQU    Y8, LOW(GROUP)           // low = 0
	VMOVDQU    Y8, MOVED(GROUP)         // nothing has moved
	VMOVDQU    Y3, LOWKEY(GROUP)        // lowKey
	VMOVDQU    Y4, HIGHKEY(GROUP)       // highKey

	// x <= first key: the answer is 0. x > last key: it is n. Else search in (0, n-1].
	VPCMPGTQ  Y3, Y0, Y1       // x > first
	VPAND     Y1, Y5, Y2                // n-1, or 0 where x is not above the first key,
	VPCMPGTQ  Y4, Y0, Y1       // x > last
	VBLENDVPD Y1, Y6, Y2, Y2            // or n where it is above the last
	VMOVDQU   Y2, HIGH(GROUP)           // the high end, or the answer
	VPANDN    Y7, Y1, Y7                // open where x is not above the last key, and high > 1
	VPCMPGTQ  ONE, Y2, Y2      // high - 0 > 1
	VPAND     Y2, Y7, Y7
	VMOVDQU   Y7, OPEN(GROUP)

	ADDQ $STATE, GROUP                  // the next group
	ADDQ $32, X
	SUBQ $4, LEFT
	JGT  begin

	XORL STEP, STEP                     // no step yet
	MOVL $4, STRIDE            // the first stride

step:
	// a line if step < 3 || step >= 8 && step%3 == 2
	MOVL   $1, LINE                     // on the line
	CMPQ   STEP, $3                     // the first three are
	JLT    groups
	MOVQ   STEP, AX
	XORL   LINE, LINE                   // not on the line
	CMPQ   AX, $8
	JLT    strides
	IMUL3Q $0xAAAB, AX, CX     // CX = step/3 for step < 2^15
	SHRQ   $17, CX
	LEAQ   (CX)(CX*2), CX
	SUBQ   CX, AX                       // step%3
	CMPQ   AX, $2
	JNE    strides
	MOVL   $1, LINE
	JMP    groups

strides:
	VMOVQ        STRIDE, X9             // in every lane
	VPBROADCASTQ X9, ZSTRIDE
	// stride = min(stride, n) * 8
	CMPQ    STRIDE, N                   // eight times, but not beyond n
	CMOVQGT N, STRIDE
	SHLQ    $3, STRIDE

groups:
	// All groups take the step.
	LEAQ state-3584(SP), GROUP
	MOVQ M, LEFT
	XORL ANY, ANY

group:
	VMOVDQU   OPEN(GROUP), Y8           // the open searches
	VPTEST    Y8, Y8                    // any?
	JZ        next
	VMOVDQU   SOUGHTX(GROUP), Y0        // the sought keys
	VMOVDQU   LOW(GROUP), Y1            // their brackets
	VMOVDQU   HIGH(GROUP), Y2
	VMOVDQU   LOWKEY(GROUP), Y3         // and the keys at the ends
	VMOVDQU   HIGHKEY(GROUP), Y4
	VPSUBQ    Y1, Y2, Y5       // width of the bracket
	TESTL     LINE, LINE                // on the line?
	JZ        near

	// guess = low + (x-lowKey)/(highKey-lowKey) * width, in low+1 .. high-1.
	// Y4 is made anew from memory below.
	VPSUBQ Y3, Y4, Y4                   // highKey - lowKey
	FLOAT(Y4, Y7)                       // as float64
	VPSUBQ Y3, Y0, Y6                   // x - lowKey
	FLOAT(Y6, Y7)                       // as float64
	VPOR   TWO52, Y5, Y5                // the width, below 2^52,
	VSUBPD TWO52, Y5, Y5                // as float64
	VDIVPD Y4, Y6, Y6                   // the share of the width
	VMULPD Y5, Y6, Y6
	VSUBPD FLOAT1, Y5, Y5               // at most width - 1
	VMAXPD FLOAT1, Y6, Y6               // at least 1
	VMINPD Y5, Y6, Y6
	VADDPD TWO52, Y6, Y6                // rounded, as int64
	VPXOR  TWO52, Y6, Y6
	VPADDQ Y1, Y6, Y6                   // low + that
	VMOVDQU HIGHKEY(GROUP), Y4          // highKey
	JMP    read

near:
	// guess = low + s or high - s, s = min(stride, width/2)
	VPSRLQ    $1, Y5, Y5                // half the width
	VPCMPGTQ  ZSTRIDE, Y5, Y6           // is the stride less?
	VBLENDVPD Y6, ZSTRIDE, Y5, Y5       // the smaller of both
	VPADDQ    Y5, Y1, Y6                // low + s
	VPSUBQ    Y5, Y2, Y7                // high - s
	VMOVDQU   MOVED(GROUP), Y5          // which end moved
	VBLENDVPD Y5, Y6, Y7, Y6            // the one whose end moved

read:
	VMOVDQA    Y8, Y5                   // the gather clears its mask
	VPXOR      Y7, Y7, Y7               // zeros where nothing is read
	VPGATHERQQ Y5, (KEYS)(Y6*8), Y7     // the keys at the guesses
	VPXOR      SIGN, Y7, Y7             // as signed numbers

	// key < x moves low, else high.
	VPCMPGTQ  Y7, Y0, Y0                // key < x
	VMOVDQU   Y0, MOVED(GROUP)          // these move the low end
	VPANDN    Y8, Y0, Y5       // open and not below
	VPAND     Y8, Y0, Y0       // open and below
	VBLENDVPD Y0, Y6, Y1, Y1            // low = guess
	VBLENDVPD Y0, Y7, Y3, Y3            // lowKey = key
	VBLENDVPD Y5, Y6, Y2, Y2            // high = guess
	VBLENDVPD Y5, Y7, Y4, Y4            // highKey = key
	VMOVDQU   Y1, LOW(GROUP)            // the bracket is narrower
	VMOVDQU   Y2, HIGH(GROUP)
	VMOVDQU   Y3, LOWKEY(GROUP)
	VMOVDQU   Y4, HIGHKEY(GROUP)

	// It continues while high - low > 1.
	VPSUBQ    Y1, Y2, Y5                // its width
	VPCMPGTQ  ONE, Y5, Y5               // open while it is above 1
	VPAND     Y8, Y5, Y8
	VMOVDQU   Y8, OPEN(GROUP)
	VMOVMSKPD Y8, AX                    // as bits
	ORL       AX, ANY                   // any in this step

next:
	ADDQ $STATE, GROUP                  // the next group
	SUBQ $4, LEFT
	JGT  group

	INCQ  STEP                          // the next step
	TESTL ANY, ANY                      // if any search is open
	JNZ   step

	// Every bracket is closed: the answer is its high end.
	// The answers.
	MOVQ dst+0(FP), DI
	LEAQ state-3584(SP), GROUP
	MOVQ M, LEFT

answer:
	VMOVDQU HIGH(GROUP), Y2             // the high ends
	VMOVDQU Y2, (DI)                    // four answers
	ADDQ $STATE, GROUP                  // the next group
	ADDQ $32, DI
	SUBQ $4, LEFT
	JGT  answer

	VZEROUPPER                          // SSE code may follow
	RET
