//go:build !purego

#include "textflag.h"

// countDigitsBMI2 counts four keys a round, so that the extractions, three cycles each, overlap
// the additions, which wait for the addition to the same count before.

#define COUNTS DI
#define SRC    SI
#define LEFT   CX
#define MASK   R8

// func countDigitsBMI2(counts, keys *uint64, n int, mask uint64)
TEXT ·countDigitsBMI2(SB), NOSPLIT, $0-32
	MOVQ counts+0(FP), COUNTS
	MOVQ keys+8(FP), SRC
	MOVQ n+16(FP), LEFT
	MOVQ mask+24(FP), MASK
	SUBQ $4, LEFT
	JLT  rest

four:
	MOVQ  0(SRC), R9
	MOVQ  8(SRC), R10
	MOVQ  16(SRC), R11
	MOVQ  24(SRC), R12
	PEXTQ MASK, R9, R9
	PEXTQ MASK, R10, R10
	PEXTQ MASK, R11, R11
	PEXTQ MASK, R12, R12
	INCQ  (COUNTS)(R9*8)
	INCQ  (COUNTS)(R10*8)
	INCQ  (COUNTS)(R11*8)
	INCQ  (COUNTS)(R12*8)
	ADDQ  $32, SRC
	SUBQ  $4, LEFT
	JGE   four

rest:
	ADDQ $4, LEFT
	JZ   done

one:
	MOVQ  (SRC), R9
	PEXTQ MASK, R9, R9
	INCQ  (COUNTS)(R9*8)
	ADDQ  $8, SRC
	DECQ  LEFT
	JNZ   one

done:
	RET
