//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// A fingerprint X is its own word for the lower half, and rotated by 32 the one for the upper, once
// the bits beyond Keep are the row's.
//
//	X  --------> low 32 bits' front: pile    words[next[pile]++] = X's low bits | row
//	  `-RORX 32-> the same for the other half

#define SRC    SI
#define LAST   CX  // behind the last fingerprint
#define WORDS  DI
#define NEXT0  R8  // *uint64 of pile 0 of the upper half
#define NEXT1  R9
#define ROW    R10 // of this fingerprint, in its place
#define STEP   R11 // 1 in that place
#define KEEP   R12
#define FRONT  R13 // 32 - Bits
#define LOWER  AX
#define UPPER  BX
#define PILE   DX
#define AT     R15

// APPEND puts a rotated fingerprint on its pile.
#define APPEND(key, next) \
	SHRXL FRONT, key, PILE         \
	BZHIQ KEEP, key, key           \
	MOVQ  (next)(PILE*8), AT       \
	ADDQ  ROW, key                 \
	MOVQ  key, (WORDS)(AT*8)       \
	PREFETCHT0 64(WORDS)(AT*8)     \
	INCQ  AT                       \
	MOVQ  AT, (next)(PILE*8)

#define DEAL(i) \
	MOVQ  (i*8)(SRC), LOWER        \
	RORXQ $32, LOWER, UPPER        \
	APPEND(UPPER, NEXT0)           \
	APPEND(LOWER, NEXT1)           \
	ADDQ  STEP, ROW

// func scatterHalvesBMI2(p *HalfPartitions, src []uint64, row uint64)
TEXT ·scatterHalvesBMI2(SB), NOSPLIT, $0-40
	MOVQ p+0(FP), AX
	MOVQ src_base+8(FP), SRC
	MOVQ src_len+16(FP), LAST
	LEAQ (SRC)(LAST*8), LAST
	MOVQ HalfPartitions_Words(AX), WORDS
	MOVQ HalfPartitions_Next(AX), NEXT0
	MOVQ HalfPartitions_Keep(AX), KEEP
	MOVQ HalfPartitions_Bits(AX), DX
	MOVL $8, NEXT1
	SHLXQ DX, NEXT1, NEXT1
	ADDQ NEXT0, NEXT1
	MOVL $32, FRONT
	SUBQ DX, FRONT
	MOVQ row+32(FP), ROW
	SHLXQ KEEP, ROW, ROW
	MOVL $1, STEP
	SHLXQ KEEP, STEP, STEP
	SUBQ $24, LAST

	PCALIGN $32
four:
	CMPQ SRC, LAST
	JCC  rest
	DEAL(0)
	DEAL(1)
	DEAL(2)
	DEAL(3)
	ADDQ $32, SRC
	JMP  four
rest:
	ADDQ $24, LAST
one:
	CMPQ SRC, LAST
	JCC  none
	DEAL(0)
	ADDQ $8, SRC
	JMP  one
none:
	RET
