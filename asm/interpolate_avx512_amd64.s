//go:build !purego

#include "textflag.h"

// interpolateAVX512: interpolateGeneric, eight searches a register, up to eight
// registers in step. Every step visits each group of eight once: place the
// guesses, gather the keys there, move one end of each bracket. Groups do not
// depend on each other, so the gathers of all eight, 64 loads, are in flight
// together.
//
// A group's state lies on the stack, 264 bytes a group:
//
//	  0 low       8 x int64
//	 64 high
//	128 lowKey    8 x uint64
//	192 highKey
//	256 open      mask of the searches that go on
//	257 moved     mask of those whose low end moved last

#define STATE   264
#define LOW     0
#define HIGH    64
#define LOWKEY  128
#define HIGHKEY 192
#define OPEN    256
#define MOVED   257

#define KEYS    SI
#define SOUGHT  DX
#define N       R8
#define M       R9
#define GROUP   R10 // the group's state
#define X       R11 // the group's sought keys
#define LEFT    R12 // sought keys from this group on
#define ANY     R13 // whether any search was open in this step
#define STEP    R14
#define STRIDE  BX

#define ONE     Z31
#define ZSTRIDE Z30

// func interpolateAVX512(dst *int, keys *uint64, n int, sought *uint64, m int)
TEXT ·interpolateAVX512(SB), 0, $2112-40
	MOVQ keys+8(FP), KEYS
	MOVQ n+16(FP), N
	MOVQ sought+24(FP), SOUGHT
	MOVQ m+32(FP), M

	MOVQ         $1, AX
	VPBROADCASTQ AX, ONE

	// Z20 first key, Z21 last key, Z22 n-1, Z23 n, Z24 0
	VPBROADCASTQ (KEYS), Z20
	VPBROADCASTQ -8(KEYS)(N*8), Z21
	VPBROADCASTQ N, Z23
	VPSUBQ       ONE, Z23, Z22
	VPXORQ       Z24, Z24, Z24

	LEAQ state-2112(SP), GROUP
	MOVQ SOUGHT, X
	MOVQ M, LEFT

begin:
	// K1: the lanes of this group that exist.
	MOVQ  $8, CX
	CMPQ  LEFT, CX
	CMOVQLT LEFT, CX
	MOVQ  $-1, AX
	BZHIQ CX, AX, AX
	KMOVW AX, K1
	VMOVDQU64.Z (X), K1, Z0

	VMOVDQU64 Z24, LOW(GROUP)
	VMOVDQU64 Z20, LOWKEY(GROUP)
	VMOVDQU64 Z21, HIGHKEY(GROUP)

	// x <= first key: the answer is 0. x > last key: it is n. Else search in (0, n-1].
	VMOVDQA64 Z22, Z2
	VPCMPUQ   $2, Z20, Z0, K2       // x <= first
	VMOVDQA64 Z24, K2, Z2
	VPCMPUQ   $6, Z21, Z0, K3       // x > last
	VMOVDQA64 Z23, K3, Z2
	VMOVDQU64 Z2, HIGH(GROUP)
	KORW      K2, K3, K2
	KANDNW    K1, K2, K1
	VPCMPQ    $6, ONE, Z2, K1, K1   // open: high - 0 > 1
	KMOVW     K1, AX
	MOVW      AX, OPEN(GROUP)       // and moved = 0: the next byte

	ADDQ $STATE, GROUP
	ADDQ $64, X
	SUBQ $8, LEFT
	JGT  begin

	XORL STEP, STEP
	MOVL $4, STRIDE                 // searchStride

step:
	// followsLine(step): step < 3 || step >= 8 && step%3 == 2
	MOVL $1, DI
	CMPQ STEP, $3
	JLT  groups
	MOVQ STEP, AX
	XORL DI, DI
	CMPQ AX, $8
	JLT  strides
	IMUL3Q $0xAAAB, AX, CX          // CX = step/3 for step < 2^15
	SHRQ $17, CX
	LEAQ (CX)(CX*2), CX
	SUBQ CX, AX
	CMPQ AX, $2
	JNE  strides
	MOVL $1, DI
	JMP  groups

strides:
	VPBROADCASTQ STRIDE, ZSTRIDE
	// stride = min(stride, n) * searchGrowth
	CMPQ    STRIDE, N
	CMOVQGT N, STRIDE
	SHLQ    $3, STRIDE

groups:
	LEAQ state-2112(SP), GROUP
	MOVQ SOUGHT, X
	MOVQ M, LEFT
	XORL ANY, ANY

group:
	MOVBLZX OPEN(GROUP), AX
	TESTL   AX, AX
	JZ      next
	KMOVW   AX, K1
	VMOVDQU64.Z (X), K1, Z0
	VMOVDQU64   LOW(GROUP), Z1
	VMOVDQU64   HIGH(GROUP), Z2
	VPSUBQ      Z1, Z2, Z5          // width of the bracket
	TESTL       DI, DI
	JZ          near

	// guess = low + (x-lowKey)/(highKey-lowKey) * width, in low+1 .. high-1
	VMOVDQU64   LOWKEY(GROUP), Z3
	VMOVDQU64   HIGHKEY(GROUP), Z4
	VPSUBQ      Z3, Z0, Z6
	VPSUBQ      Z3, Z4, Z7
	VCVTUQQ2PD  Z6, Z6
	VCVTUQQ2PD  Z7, Z7
	VCVTUQQ2PD  Z5, Z8
	VDIVPD      Z7, Z6, Z6
	VMULPD      Z8, Z6, Z6
	VCVTTPD2UQQ Z6, Z6
	VPADDQ      Z1, Z6, Z6
	VPADDQ      ONE, Z1, Z7
	VPMAXSQ     Z7, Z6, Z6
	VPSUBQ      ONE, Z2, Z7
	VPMINSQ     Z7, Z6, Z6
	JMP         read

near:
	// guess = low + s or high - s, s = min(stride, width/2)
	VPSRLQ      $1, Z5, Z5
	VPMINSQ     ZSTRIDE, Z5, Z5
	MOVBLZX     MOVED(GROUP), CX
	KMOVW       CX, K2
	VPSUBQ      Z5, Z2, Z6
	VPADDQ      Z5, Z1, K2, Z6

read:
	VPXORQ      Z7, Z7, Z7
	KMOVW       K1, K3
	VPGATHERQQ  (KEYS)(Z6*8), K3, Z7

	// key < x moves low, else high.
	VPCMPUQ     $1, Z0, Z7, K1, K2
	KANDNW      K1, K2, K3
	KMOVW       K2, CX
	VMOVDQA64   Z6, K2, Z1
	VMOVDQA64   Z6, K3, Z2
	VMOVDQU64   Z7, K2, LOWKEY(GROUP)
	VMOVDQU64   Z7, K3, HIGHKEY(GROUP)
	VMOVDQU64   Z1, LOW(GROUP)
	VMOVDQU64   Z2, HIGH(GROUP)

	// It goes on while high - low > 1.
	VPSUBQ      Z1, Z2, Z5
	VPCMPQ      $6, ONE, Z5, K1, K1
	KMOVW       K1, AX
	ORL         AX, ANY
	MOVB        AX, OPEN(GROUP)
	MOVB        CX, MOVED(GROUP)

next:
	ADDQ $STATE, GROUP
	ADDQ $64, X
	SUBQ $8, LEFT
	JGT  group

	INCQ  STEP
	TESTL ANY, ANY
	JNZ   step

	// Every bracket is closed: the answer is its high end.
	MOVQ dst+0(FP), DI
	LEAQ state-2112(SP), GROUP
	MOVQ M, LEFT

answer:
	MOVQ    $8, CX
	CMPQ    LEFT, CX
	CMOVQLT LEFT, CX
	MOVQ    $-1, AX
	BZHIQ   CX, AX, AX
	KMOVW   AX, K1
	VMOVDQU64 HIGH(GROUP), Z2
	VMOVDQU64 Z2, K1, (DI)
	ADDQ $STATE, GROUP
	ADDQ $64, DI
	SUBQ $8, LEFT
	JGT  answer

	VZEROUPPER
	RET
