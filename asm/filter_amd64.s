//go:build !purego

#include "textflag.h"

#define SRC    SI
#define LAST   CX  // behind the last word
#define BITMAP R8
#define SHIFT  R9
#define LINE   R10 // shift to the number of the map's word
#define KEPT   R12
#define DST    DI
#define WORD   AX
#define BIT    BX
#define PART   DX

// A word is written whether it is kept or not, to where the next one goes then.
#define FILTER(i) \
	MOVQ  (i*8)(SRC), WORD         \
	SHRXL LINE, WORD, PART         \
	SHRXL SHIFT, WORD, BIT         \
	MOVQ  (BITMAP)(PART*8), PART   \
	MOVQ  WORD, (DST)(KEPT*8)      \
	BTQ   BIT, PART                \
	ADCQ  $0, KEPT

// func filterBMI2(dst, words, bitmap []uint64, shift uint64) (n int)
TEXT ·filterBMI2(SB), NOSPLIT, $0-88
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
	FILTER(0)
	FILTER(1)
	FILTER(2)
	FILTER(3)
	ADDQ $32, SRC
	JMP  four
rest:
	ADDQ $24, LAST
one:
	CMPQ SRC, LAST
	JCC  none
	FILTER(0)
	ADDQ $8, SRC
	JMP  one
none:
	MOVQ KEPT, n+80(FP)
	RET
