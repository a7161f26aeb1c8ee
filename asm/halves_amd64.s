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

// func halvesBMI2(h *Halves, src []uint64, row uint64)
TEXT ·halvesBMI2(SB), NOSPLIT, $0-40
	MOVQ h+0(FP), AX
	MOVQ src_base+8(FP), SRC
	MOVQ src_len+16(FP), LAST
	LEAQ (SRC)(LAST*8), LAST
	MOVQ Halves_words(AX), WORDS
	MOVQ Halves_next(AX), NEXT0
	MOVQ Halves_keep(AX), KEEP
	MOVQ Halves_bits(AX), DX
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

#define BITMAP R8
#define SHIFT  R9
#define LINE   R10 // shift to the number of the map's word
#define KEPT   R12
#define DST    DI
#define WORD   AX
#define BIT    BX
#define PART   DX

// A word is written whether it is kept or not, to where the next one goes then.
#define SIFT(i) \
	MOVQ  (i*8)(SRC), WORD         \
	SHRXL LINE, WORD, PART         \
	SHRXL SHIFT, WORD, BIT         \
	MOVQ  (BITMAP)(PART*8), PART   \
	MOVQ  WORD, (DST)(KEPT*8)      \
	BTQ   BIT, PART                \
	ADCQ  $0, KEPT

// func siftBMI2(dst, words, bitmap []uint64, shift uint64) (n int)
TEXT ·siftBMI2(SB), NOSPLIT, $0-88
	MOVQ dst_base+0(FP), DST
	MOVQ words_base+24(FP), SRC
	MOVQ words_len+32(FP), LAST
	LEAQ (SRC)(LAST*8), LAST
	MOVQ bitmap_base+48(FP), BITMAP
	MOVQ shift+72(FP), SHIFT
	LEAQ 6(SHIFT), LINE
	XORL KEPT, KEPT
	SUBQ $24, LAST

	PCALIGN $32
four:
	CMPQ SRC, LAST
	JCC  rest
	SIFT(0)
	SIFT(1)
	SIFT(2)
	SIFT(3)
	ADDQ $32, SRC
	JMP  four
rest:
	ADDQ $24, LAST
one:
	CMPQ SRC, LAST
	JCC  none
	SIFT(0)
	ADDQ $8, SRC
	JMP  one
none:
	MOVQ KEPT, n+80(FP)
	RET
