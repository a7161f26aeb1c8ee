//go:build !purego

#include "textflag.h"

// filterBMI2 looks each word's bit up in the bitmap. A word is written whether it is kept or not, to where the next
// one goes then, and the position advances by the bit: no branch depends on the words.
//
//	word     | ..................... | low half: number of the bit | .. |
//	bitmap   word number>>6, bit number&63
//
// A word takes 7 operations; four words a round overlap their look-ups.

#define SRC    SI  // the next word
#define LAST   CX  // end of the words
#define BITMAP R8  // the bits
#define SHIFT  R9  // 32 less the bits of a number: to the number of the bit
#define LINE   R10 // shift to the number of the map's word
#define KEPT   R12 // words kept so far
#define DST    DI  // where kept words go
#define WORD   AX  // this word
#define BIT    BX  // number of its bit
#define PART   DX  // number of the bitmap's word, then that word

// FILTER writes a word and moves KEPT on by its bit.
#define FILTER(i) \
	MOVQ  (i*8)(SRC), WORD       \ // the word
	SHRXL LINE, WORD, PART       \ // number>>6
	SHRXL SHIFT, WORD, BIT       \ // number
	MOVQ  (BITMAP)(PART*8), PART \ // the word of the bitmap
	MOVQ  WORD, (DST)(KEPT*8)    \ // written in any case
	BTQ   BIT, PART              \ // carry = bit number&63
	ADCQ  $0, KEPT                 // the place moves on if the word is kept

// func filterBMI2(dst, words, bitmap []uint64, shift uint64) (n int)
TEXT ·filterBMI2(SB), NOSPLIT, $0-88
	MOVQ dst_base+0(FP), DST            // the arguments
	MOVQ words_base+24(FP), SRC
	MOVQ words_len+32(FP), LAST
	LEAQ (SRC)(LAST*8), LAST            // one past the last word
	MOVQ bitmap_base+48(FP), BITMAP
	MOVQ shift+72(FP), SHIFT
	LEAQ 6(SHIFT), LINE                 // SHIFT + 6, since a word of the bitmap has 64 bits
	XORL KEPT, KEPT
	SUBQ $24, LAST                      // one past the last group of four begins here

	PCALIGN $32
four:
	CMPQ SRC, LAST                      // four words left?
	JCC  rest
	FILTER(0)
	FILTER(1)
	FILTER(2)
	FILTER(3)
	ADDQ $32, SRC                       // past these four
	JMP  four
rest:
	ADDQ $24, LAST                      // one past the last word again
one:
	CMPQ SRC, LAST
	JCC  none                           // any left?
	FILTER(0)
	ADDQ $8, SRC
	JMP  one
none:
	MOVQ KEPT, n+80(FP)                 // how many were kept
	RET
