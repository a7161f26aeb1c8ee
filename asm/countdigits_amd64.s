//go:build !purego

#include "textflag.h"

// countDigitsBMI2 counts four keys a round, so that the extractions, three cycles each, overlap
// the additions, which wait for the addition to the same count before.

#define COUNTS DI // one count for each value of the digit
#define SRC    SI // the next key
#define LEFT   CX // keys to go; in the loop of four, less four
#define MASK   R8 // the bits that make the digit

// func countDigitsBMI2(counts, keys *uint64, n int, mask uint64)
TEXT ·countDigitsBMI2(SB), NOSPLIT, $0-32
	MOVQ counts+0(FP), COUNTS
	MOVQ keys+8(FP), SRC
	MOVQ n+16(FP), LEFT
	MOVQ mask+24(FP), MASK
	SUBQ $4, LEFT
	JLT  rest

	// Four keys: four extractions are under way while the additions wait for each other.
four:
	MOVQ  0(SRC), R9                    // key 0
	MOVQ  8(SRC), R10                   // key 1
	MOVQ  16(SRC), R11                  // key 2
	MOVQ  24(SRC), R12                  // key 3
	PEXTQ MASK, R9, R9                  // digit 0: the bits under the mask, in order
	PEXTQ MASK, R10, R10                // digit 1
	PEXTQ MASK, R11, R11                // digit 2
	PEXTQ MASK, R12, R12                // digit 3
	INCQ  (COUNTS)(R9*8)                // counts[digit 0]++
	INCQ  (COUNTS)(R10*8)               // counts[digit 1]++
	INCQ  (COUNTS)(R11*8)               // counts[digit 2]++
	INCQ  (COUNTS)(R12*8)               // counts[digit 3]++
	ADDQ  $32, SRC
	SUBQ  $4, LEFT
	JGE   four

rest:
	ADDQ $4, LEFT                       // 0 to 3 keys are left
	JZ   done

	// One key at a time.
one:
	MOVQ  (SRC), R9
	PEXTQ MASK, R9, R9                  // its digit
	INCQ  (COUNTS)(R9*8)                // counts[digit]++
	ADDQ  $8, SRC
	DECQ  LEFT
	JNZ   one

done:
	RET
