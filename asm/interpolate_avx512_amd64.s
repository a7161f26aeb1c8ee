//go:build !purego

#include "textflag.h"

// interpolateAVX512: Interpolate, eight searches a register, up to eight
// registers in step. Every step visits each group of eight once: place the
// guesses, gather the keys there, move one end of each bracket. Groups do not
// depend on each other, so the gathers of all eight, 64 loads, are in flight
// together.
//
// A group's state is on the stack, 264 bytes a group:
//
//	  0 low       8 x int64
//	 64 high
//	128 lowKey    8 x uint64
//	192 highKey
//	256 open      mask of the searches that go on
//	257 moved     mask of those whose low end moved last

#define STATE   264 // bytes of a group's state
#define LOW     0   // offsets in it
#define HIGH    64
#define LOWKEY  128
#define HIGHKEY 192
#define OPEN    256
#define MOVED   257

#define KEYS    SI  // the sorted keys
#define SOUGHT  DX  // the sought keys
#define N       R8  // how many keys there are
#define M       R9  // how many are sought
#define GROUP   R10 // the group's state
#define X       R11 // the group's sought keys
#define LEFT    R12 // sought keys from this group on
#define ANY     R13 // whether any search was open in this step
#define STEP    R14 // number of the step
#define STRIDE  BX  // how far from an end the next guess is

#define ONE     Z31 // 1 in every lane
#define ZSTRIDE Z30 // STRIDE in every lane

// func interpolateAVX512(dst *int, keys *uint64, n int, targets *uint64, m int)
// The arguments.
TEXT ·interpolateAVX512(SB), 0, $2112-40
	MOVQ keys+8(FP), KEYS
	MOVQ n+16(FP), N
	MOVQ targets+24(FP), SOUGHT
	MOVQ m+32(FP), M

	MOVQ         $1, AX                 // 1
	VPBROADCASTQ AX, ONE

	// Z20 first key, Z21 last key, Z22 n-1, Z23 n, Z24 0
	VPBROADCASTQ (KEYS), Z20            // the first key
	VPBROADCASTQ -8(KEYS)(N*8), Z21     // the last
	VPBROADCASTQ N, Z23                 // n
	VPSUBQ       ONE, Z23, Z22          // n-1
	VPXORQ       Z24, Z24, Z24          // 0

	// The groups, one after the other.
	LEAQ state-2112(SP), GROUP
	MOVQ SOUGHT, X
	MOVQ M, LEFT

begin:
	// K1: the lanes of this group that exist.
	MOVQ  $8, CX                        // a bit for each of eight lanes, or of what is left
	CMPQ  LEFT, CX
	CMOVQLT LEFT, CX
	MOVQ  $-1, AX
	BZHIQ CX, AX, AX
	KMOVW AX, K1
	VMOVDQU64.Z (X), K1, Z0             // the sought keys

	VMOVDQU64 Z24, LOW(GROUP)           // low = 0
	VMOVDQU64 Z20, LOWKEY(GROUP)        // lowKey
	VMOVDQU64 Z21, HIGHKEY(GROUP)       // highKey

	// x <= first key: the answer is 0. x > last key: it is n. Else search in (0, n-1].
	VMOVDQA64 Z22, Z2                   // high = n-1
	VPCMPUQ   $2, Z20, Z0, K2       // x <= first
	VMOVDQA64 Z24, K2, Z2               // or the answer: 0, or n
	VPCMPUQ   $6, Z21, Z0, K3       // x > last
	VMOVDQA64 Z23, K3, Z2
	VMOVDQU64 Z2, HIGH(GROUP)           // kept
	KORW      K2, K3, K2                // those that are answered are not open
	KANDNW    K1, K2, K1
	VPCMPQ    $6, ONE, Z2, K1, K1   // open: high - 0 > 1
	KMOVW     K1, AX
	MOVW      AX, OPEN(GROUP)       // and moved = 0: the next byte

	ADDQ $STATE, GROUP                  // the next group
	ADDQ $64, X
	SUBQ $8, LEFT
	JGT  begin

	XORL STEP, STEP                     // no step yet
	MOVL $4, STRIDE                 // the first stride

step:
	// a line if step < 3 || step >= 8 && step%3 == 2
	MOVL $1, DI                         // on the line
	CMPQ STEP, $3                       // the first three are
	JLT  groups
	MOVQ STEP, AX
	XORL DI, DI                         // not on the line
	CMPQ AX, $8
	JLT  strides
	IMUL3Q $0xAAAB, AX, CX          // CX = step/3 for step < 2^15
	SHRQ $17, CX
	LEAQ (CX)(CX*2), CX
	SUBQ CX, AX                         // step%3
	CMPQ AX, $2
	JNE  strides
	MOVL $1, DI
	JMP  groups

strides:
	VPBROADCASTQ STRIDE, ZSTRIDE        // in every lane
	// stride = min(stride, n) * 8
	CMPQ    STRIDE, N                   // eight times, but not beyond n
	CMOVQGT N, STRIDE
	SHLQ    $3, STRIDE

groups:
	// All groups take the step.
	LEAQ state-2112(SP), GROUP
	MOVQ SOUGHT, X
	MOVQ M, LEFT
	XORL ANY, ANY

group:
	MOVBLZX OPEN(GROUP), AX             // the open searches
	TESTL   AX, AX                      // any?
	JZ      next
	KMOVW   AX, K1
	VMOVDQU64.Z (X), K1, Z0             // the sought keys
	VMOVDQU64   LOW(GROUP), Z1          // their brackets
	VMOVDQU64   HIGH(GROUP), Z2
	VPSUBQ      Z1, Z2, Z5          // width of the bracket
	TESTL       DI, DI                  // on the line?
	JZ          near

	// guess = low + (x-lowKey)/(highKey-lowKey) * width, in low+1 .. high-1
	VMOVDQU64   LOWKEY(GROUP), Z3       // the keys at the ends
	VMOVDQU64   HIGHKEY(GROUP), Z4
	VPSUBQ      Z3, Z0, Z6              // x - lowKey
	VPSUBQ      Z3, Z4, Z7              // highKey - lowKey
	VCVTUQQ2PD  Z6, Z6                  // as float64
	VCVTUQQ2PD  Z7, Z7
	VCVTUQQ2PD  Z5, Z8                  // and the width
	VDIVPD      Z7, Z6, Z6              // the share of the width
	VMULPD      Z8, Z6, Z6
	VCVTTPD2UQQ Z6, Z6                  // as uint64
	VPADDQ      Z1, Z6, Z6              // low + that
	VPADDQ      ONE, Z1, Z7             // at least low+1
	VPMAXSQ     Z7, Z6, Z6
	VPSUBQ      ONE, Z2, Z7             // at most high-1
	VPMINSQ     Z7, Z6, Z6
	JMP         read

near:
	// guess = low + s or high - s, s = min(stride, width/2)
	VPSRLQ      $1, Z5, Z5              // half the width
	VPMINSQ     ZSTRIDE, Z5, Z5         // the smaller of that and the stride
	MOVBLZX     MOVED(GROUP), CX        // those whose low end moved
	KMOVW       CX, K2
	VPSUBQ      Z5, Z2, Z6              // high - s, or low + s
	VPADDQ      Z5, Z1, K2, Z6

read:
	VPXORQ      Z7, Z7, Z7              // zeros where nothing is read
	KMOVW       K1, K3                  // the gather clears its mask
	VPGATHERQQ  (KEYS)(Z6*8), K3, Z7    // the keys at the guesses

	// key < x moves low, else high.
	VPCMPUQ     $1, Z0, Z7, K1, K2      // key < x, and open
	KANDNW      K1, K2, K3              // key >= x, and open
	KMOVW       K2, CX
	VMOVDQA64   Z6, K2, Z1              // low = guess
	VMOVDQA64   Z6, K3, Z2              // or high = guess
	VMOVDQU64   Z7, K2, LOWKEY(GROUP)   // lowKey = key
	VMOVDQU64   Z7, K3, HIGHKEY(GROUP)  // or highKey = key
	VMOVDQU64   Z1, LOW(GROUP)          // the bracket is narrower
	VMOVDQU64   Z2, HIGH(GROUP)

	// It continues while high - low > 1.
	VPSUBQ      Z1, Z2, Z5              // its width
	VPCMPQ      $6, ONE, Z5, K1, K1     // is it above 1?
	KMOVW       K1, AX
	ORL         AX, ANY                 // any in this step
	MOVB        AX, OPEN(GROUP)         // these go on
	MOVB        CX, MOVED(GROUP)        // these moved the low end

next:
	ADDQ $STATE, GROUP                  // the next group
	ADDQ $64, X
	SUBQ $8, LEFT
	JGT  group

	INCQ  STEP                          // the next step
	TESTL ANY, ANY                      // if any search is open
	JNZ   step

	// Every bracket is closed: the answer is its high end.
	// The answers.
	MOVQ dst+0(FP), DI
	LEAQ state-2112(SP), GROUP
	MOVQ M, LEFT

answer:
	MOVQ    $8, CX                      // a bit for each of eight lanes, or of what is left
	CMPQ    LEFT, CX
	CMOVQLT LEFT, CX
	MOVQ    $-1, AX
	BZHIQ   CX, AX, AX
	KMOVW   AX, K1
	VMOVDQU64 HIGH(GROUP), Z2           // the high ends
	VMOVDQU64 Z2, K1, (DI)              // the answers
	ADDQ $STATE, GROUP                  // the next group
	ADDQ $64, DI
	SUBQ $8, LEFT
	JGT  answer

	VZEROUPPER                          // SSE code may follow
	RET
