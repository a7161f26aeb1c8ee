//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// A fingerprint X is its own word for the lower half, and rotated by 32 the one for the upper, once
// the bits beyond Keep are the row's.
//
//	X  --------> low 32 bits' front: partition    words[next[partition]++] = X's low bits | row
//	  `-RORX 32-> the same for the other half

#define SRC    SI  // the next fingerprint
#define LAST   CX  // end of the fingerprints
#define WORDS  DI  // of all partitions
#define NEXT0  R8  // *uint64 of partition 0 of the upper half
#define NEXT1  R9  // the same for the lower half
#define ROW    R10 // of this fingerprint, in its place
#define STEP   R11 // 1 in that place
#define KEEP   R12 // bits that a word keeps
#define FRONT  R13 // 32 - Bits
#define LOWER  AX  // the fingerprint: its lower half in front
#define UPPER  BX  // the fingerprint, its upper half in front
#define PART   DX  // number of a partition
#define AT     R15 // place of its next word

// APPEND puts a rotated fingerprint on its partition.
#define APPEND(key, next) \
	SHRXL FRONT, key, PART     \ // front bits of the half
	BZHIQ KEEP, key, key       \ // the bits that the word keeps
	MOVQ  (next)(PART*8), AT   \ // its place
	ADDQ  ROW, key             \ // and the row above them
	MOVQ  key, (WORDS)(AT*8)   \ // append the word
	PREFETCHT0 64(WORDS)(AT*8) \ // the partition's next line will be needed
	INCQ  AT                   \ // the partition's next place
	MOVQ  AT, (next)(PART*8)

#define SCATTER(i) \
	MOVQ  (i*8)(SRC), LOWER \ // the fingerprint
	RORXQ $32, LOWER, UPPER \ // halves exchanged
	APPEND(UPPER, NEXT0)    \ // to its partition by the upper half
	APPEND(LOWER, NEXT1)    \ // to its partition by the lower half
	ADDQ  STEP, ROW           // the next row

// func scatterHalvesBMI2(p *HalfPartitions, src []uint64, row uint64)
TEXT ·scatterHalvesBMI2(SB), NOSPLIT, $0-40
	MOVQ p+0(FP), AX                    // the partitions
	MOVQ src_base+8(FP), SRC            // src[0]
	MOVQ src_len+16(FP), LAST           // len(src)
	LEAQ (SRC)(LAST*8), LAST            // one past the last
	MOVQ HalfPartitions_Words(AX), WORDS // one array for all partitions
	MOVQ HalfPartitions_Next(AX), NEXT0 // by partition of the upper half
	MOVQ HalfPartitions_Keep(AX), KEEP  // bits that a word keeps
	MOVQ HalfPartitions_Bits(AX), DX    // leading bits
	// The lower half's next places are 8<<Bits bytes after the upper half's.
	MOVL $8, NEXT1
	SHLXQ DX, NEXT1, NEXT1
	ADDQ NEXT0, NEXT1
	MOVL $32, FRONT                     // FRONT = 32 - Bits: the shift from a half to its front
	SUBQ DX, FRONT
	MOVQ row+32(FP), ROW                // the first row, above the bits that a word keeps
	SHLXQ KEEP, ROW, ROW
	MOVL $1, STEP                       // and one row more
	SHLXQ KEEP, STEP, STEP
	SUBQ $24, LAST                      // one past the last group of four begins here

	PCALIGN $32
four:
	CMPQ SRC, LAST                      // four fingerprints left?
	JCC  rest
	SCATTER(0)
	SCATTER(1)
	SCATTER(2)
	SCATTER(3)
	ADDQ $32, SRC                       // past these four
	JMP  four
rest:
	ADDQ $24, LAST                      // one past the last again
one:
	CMPQ SRC, LAST                      // any left?
	JCC  none
	SCATTER(0)
	ADDQ $8, SRC
	JMP  one
none:
	RET
