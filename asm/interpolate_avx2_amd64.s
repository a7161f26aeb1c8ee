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
// A group's state lies on the stack, 224 bytes a group: sought and keys with
// their top bits flipped, open and moved as vectors. m is a multiple of four.

#define STATE   224
#define LOW     0
#define HIGH    32
#define LOWKEY  64
#define HIGHKEY 96
#define OPEN    128
#define MOVED   160
#define SOUGHTX 192

#define KEYS    SI
#define SOUGHT  DX
#define N       R8
#define M       R9
#define GROUP   R10
#define X       R11
#define LEFT    R12
#define ANY     R13
#define STEP    R15
#define STRIDE  BX
#define LINE    DI

#define ONE     Y15 // int64 1
#define SIGN    Y14 // 1<<63
#define TWO52   Y13 // float64 2^52
#define TWO84   Y12 // float64 2^84
#define TWO8452 Y11 // float64 2^84 + 2^52
#define FLOAT1  Y10 // float64 1
#define ZSTRIDE Y9

#define CONSTANT(value, x, y) \
	MOVQ         $value, AX \
	VMOVQ        AX, x      \
	VPBROADCASTQ x, y

// FLOAT makes float64s of the uint64s in v: (hi - (2^84+2^52)) + lo.
#define FLOAT(v, t) \
	VPSRLQ   $32, v, t           \
	VPOR     TWO84, t, t         \
	VPBLENDD $0xaa, TWO52, v, v  \
	VSUBPD   TWO8452, t, t       \
	VADDPD   t, v, v

// func interpolateAVX2(dst *int, keys *uint64, n int, sought *uint64, m int)
TEXT ·interpolateAVX2(SB), 0, $3584-40
	MOVQ keys+8(FP), KEYS
	MOVQ n+16(FP), N
	MOVQ sought+24(FP), SOUGHT
	MOVQ m+32(FP), M

	CONSTANT(1, X15, ONE)
	CONSTANT(0x8000000000000000, X14, SIGN)
	CONSTANT(0x4330000000000000, X13, TWO52)
	CONSTANT(0x4530000000000000, X12, TWO84)
	CONSTANT(0x4530000000100000, X11, TWO8452)
	CONSTANT(0x3ff0000000000000, X10, FLOAT1)

	// Y3 first key, Y4 last key, Y5 n-1, Y6 n
	VPBROADCASTQ (KEYS), Y3
	VPXOR        SIGN, Y3, Y3
	VPBROADCASTQ -8(KEYS)(N*8), Y4
	VPXOR        SIGN, Y4, Y4
	VMOVQ        N, X6
	VPBROADCASTQ X6, Y6
	VPSUBQ       ONE, Y6, Y5

	LEAQ state-3584(SP), GROUP
	MOVQ SOUGHT, X
	MOVQ M, LEFT

begin:
	VPXOR      (X), SIGN, Y0
	VPXOR      Y8, Y8, Y8
	VPCMPEQQ   Y7, Y7, Y7
	VMOVDQU    Y0, SOUGHTX(GROUP)
	VMOVDQU    Y8, LOW(GROUP)
	VMOVDQU    Y8, MOVED(GROUP)
	VMOVDQU    Y3, LOWKEY(GROUP)
	VMOVDQU    Y4, HIGHKEY(GROUP)

	// x <= first key: the answer is 0. x > last key: it is n. Else search in (0, n-1].
	VPCMPGTQ  Y3, Y0, Y1       // x > first
	VPAND     Y1, Y5, Y2
	VPCMPGTQ  Y4, Y0, Y1       // x > last
	VBLENDVPD Y1, Y6, Y2, Y2
	VMOVDQU   Y2, HIGH(GROUP)
	VPANDN    Y7, Y1, Y7
	VPCMPGTQ  ONE, Y2, Y2      // high - 0 > 1
	VPAND     Y2, Y7, Y7
	VMOVDQU   Y7, OPEN(GROUP)

	ADDQ $STATE, GROUP
	ADDQ $32, X
	SUBQ $4, LEFT
	JGT  begin

	XORL STEP, STEP
	MOVL $4, STRIDE            // searchStride

step:
	// followsLine(step): step < 3 || step >= 8 && step%3 == 2
	MOVL   $1, LINE
	CMPQ   STEP, $3
	JLT    groups
	MOVQ   STEP, AX
	XORL   LINE, LINE
	CMPQ   AX, $8
	JLT    strides
	IMUL3Q $0xAAAB, AX, CX     // CX = step/3 for step < 2^15
	SHRQ   $17, CX
	LEAQ   (CX)(CX*2), CX
	SUBQ   CX, AX
	CMPQ   AX, $2
	JNE    strides
	MOVL   $1, LINE
	JMP    groups

strides:
	VMOVQ        STRIDE, X9
	VPBROADCASTQ X9, ZSTRIDE
	// stride = min(stride, n) * searchGrowth
	CMPQ    STRIDE, N
	CMOVQGT N, STRIDE
	SHLQ    $3, STRIDE

groups:
	LEAQ state-3584(SP), GROUP
	MOVQ M, LEFT
	XORL ANY, ANY

group:
	VMOVDQU   OPEN(GROUP), Y8
	VPTEST    Y8, Y8
	JZ        next
	VMOVDQU   SOUGHTX(GROUP), Y0
	VMOVDQU   LOW(GROUP), Y1
	VMOVDQU   HIGH(GROUP), Y2
	VMOVDQU   LOWKEY(GROUP), Y3
	VMOVDQU   HIGHKEY(GROUP), Y4
	VPSUBQ    Y1, Y2, Y5       // width of the bracket
	TESTL     LINE, LINE
	JZ        near

	// guess = low + (x-lowKey)/(highKey-lowKey) * width, in low+1 .. high-1.
	// Y4 is made anew from memory below.
	VPSUBQ Y3, Y4, Y4
	FLOAT(Y4, Y7)
	VPSUBQ Y3, Y0, Y6
	FLOAT(Y6, Y7)
	VPOR   TWO52, Y5, Y5
	VSUBPD TWO52, Y5, Y5
	VDIVPD Y4, Y6, Y6
	VMULPD Y5, Y6, Y6
	VSUBPD FLOAT1, Y5, Y5
	VMAXPD FLOAT1, Y6, Y6
	VMINPD Y5, Y6, Y6
	VADDPD TWO52, Y6, Y6
	VPXOR  TWO52, Y6, Y6
	VPADDQ Y1, Y6, Y6
	VMOVDQU HIGHKEY(GROUP), Y4
	JMP    read

near:
	// guess = low + s or high - s, s = min(stride, width/2)
	VPSRLQ    $1, Y5, Y5
	VPCMPGTQ  ZSTRIDE, Y5, Y6
	VBLENDVPD Y6, ZSTRIDE, Y5, Y5
	VPADDQ    Y5, Y1, Y6
	VPSUBQ    Y5, Y2, Y7
	VMOVDQU   MOVED(GROUP), Y5
	VBLENDVPD Y5, Y6, Y7, Y6

read:
	VMOVDQA    Y8, Y5
	VPXOR      Y7, Y7, Y7
	VPGATHERQQ Y5, (KEYS)(Y6*8), Y7
	VPXOR      SIGN, Y7, Y7

	// key < x moves low, else high.
	VPCMPGTQ  Y7, Y0, Y0
	VMOVDQU   Y0, MOVED(GROUP)
	VPANDN    Y8, Y0, Y5       // open and not below
	VPAND     Y8, Y0, Y0       // open and below
	VBLENDVPD Y0, Y6, Y1, Y1
	VBLENDVPD Y0, Y7, Y3, Y3
	VBLENDVPD Y5, Y6, Y2, Y2
	VBLENDVPD Y5, Y7, Y4, Y4
	VMOVDQU   Y1, LOW(GROUP)
	VMOVDQU   Y2, HIGH(GROUP)
	VMOVDQU   Y3, LOWKEY(GROUP)
	VMOVDQU   Y4, HIGHKEY(GROUP)

	// It goes on while high - low > 1.
	VPSUBQ    Y1, Y2, Y5
	VPCMPGTQ  ONE, Y5, Y5
	VPAND     Y8, Y5, Y8
	VMOVDQU   Y8, OPEN(GROUP)
	VMOVMSKPD Y8, AX
	ORL       AX, ANY

next:
	ADDQ $STATE, GROUP
	SUBQ $4, LEFT
	JGT  group

	INCQ  STEP
	TESTL ANY, ANY
	JNZ   step

	// Every bracket is closed: the answer is its high end.
	MOVQ dst+0(FP), DI
	LEAQ state-3584(SP), GROUP
	MOVQ M, LEFT

answer:
	VMOVDQU HIGH(GROUP), Y2
	VMOVDQU Y2, (DI)
	ADDQ $STATE, GROUP
	ADDQ $32, DI
	SUBQ $4, LEFT
	JGT  answer

	VZEROUPPER
	RET
