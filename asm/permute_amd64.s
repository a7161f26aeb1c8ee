//go:build !purego

#include "textflag.h"

// permuteAVX512: VPSHUFBITQMB picks, for each of 64 index bytes, one bit of the
// 64-bit word in the same lane. With one key in all eight lanes, and the whole
// permutation as the index, its 64 answers are the permuted key: one load, one
// VPSHUFBITQMB (port 5, one a cycle), one store of a mask register.

#define DST   DI // permuted keys
#define SRC   SI // keys
#define LEFT  CX // keys to go; in the loop of four, less four
#define INDEX Z0 // source bit of each result bit

#define ONE(at, key, mask) \
	VPBROADCASTQ at(SRC), key     \ // the key in all lanes
	VPSHUFBITQMB INDEX, key, mask   // 64 picked bits: the permuted key

// func permuteAVX512(dst, src *uint64, n int, index *[64]uint8)
TEXT ·permuteAVX512(SB), NOSPLIT, $0-32
	// The arguments.
	MOVQ      dst+0(FP), DST
	MOVQ      src+8(FP), SRC
	MOVQ      n+16(FP), LEFT
	MOVQ      index+24(FP), AX
	VMOVDQU64 (AX), INDEX               // the permutation in one register

	// for ; n >= 4; n -= 4
	SUBQ $4, LEFT
	JLT  rest

four:
	ONE(0, Z1, K1)                      // four keys
	ONE(8, Z2, K2)
	ONE(16, Z3, K3)
	ONE(24, Z4, K4)
	KMOVQ K1, 0(DST)                    // four permuted keys
	KMOVQ K2, 8(DST)
	KMOVQ K3, 16(DST)
	KMOVQ K4, 24(DST)
	ADDQ  $32, SRC                      // the next four
	ADDQ  $32, DST
	SUBQ  $4, LEFT
	JGE   four

rest:
	ADDQ $4, LEFT                       // 0 to 3 keys are left
	JZ   done

one:
	ONE(0, Z1, K1)                      // a key
	KMOVQ K1, (DST)                     // permuted
	ADDQ  $8, SRC
	ADDQ  $8, DST
	DECQ  LEFT
	JNZ   one

done:
	VZEROUPPER                          // SSE code may follow
	RET

#undef ONE
#undef INDEX

// The BMI2 forms: two PEXT or PDEP a key, both on port 1, so two cycles a key.

#define MASK  R8  // the leading bits
#define OTHER R9  // the others
#define SHIFT R10 // 64 - popcount(mask), the larger half

// PREPARE: the shift is by 64 - popcount(mask), and by 64 must give 0, so it is done
// in two parts of at most 32: SHIFT and HALF.
#define HALF R11

#define PREPARE \
	MOVQ    MASK, OTHER  \ // the bits that do not lead
	NOTQ    OTHER        \
	POPCNTQ OTHER, SHIFT \ // SHIFT + HALF = 64 - popcount(mask)
	MOVQ    SHIFT, HALF  \
	SHRQ    $1, HALF     \
	SUBQ    HALF, SHIFT

// func permuteBMI2(dst, src *uint64, n int, mask uint64)
TEXT ·permuteBMI2(SB), NOSPLIT, $0-32
	// The arguments.
	MOVQ dst+0(FP), DST
	MOVQ src+8(FP), SRC
	MOVQ n+16(FP), LEFT
	MOVQ mask+24(FP), MASK
	PREPARE

extract:
	// dst[i] = PEXT(x, mask) << (64-p) | PEXT(x, ^mask)
	MOVQ  (SRC), AX                     // x
	PEXTQ MASK, AX, BX                  // the leading bits, in order
	PEXTQ OTHER, AX, DX                 // the others, in order
	SHLXQ SHIFT, BX, BX                 // the leading ones to the front, by 64 - p in all
	SHLXQ HALF, BX, BX
	ORQ   DX, BX                        // together
	MOVQ  BX, (DST)                     // dst[i]
	ADDQ  $8, SRC
	ADDQ  $8, DST
	DECQ  LEFT
	JNZ   extract
	RET

// func unpermuteBMI2(dst, src *uint64, n int, mask uint64)
TEXT ·unpermuteBMI2(SB), NOSPLIT, $0-32
	// The arguments.
	MOVQ dst+0(FP), DST
	MOVQ src+8(FP), SRC
	MOVQ n+16(FP), LEFT
	MOVQ mask+24(FP), MASK
	PREPARE

deposit:
	// dst[i] = PDEP(x >> (64-p), mask) | PDEP(x, ^mask)
	MOVQ  (SRC), AX                     // x
	SHRXQ SHIFT, AX, BX                 // the leading bits to the low end, by 64 - p in all
	SHRXQ HALF, BX, BX
	PDEPQ MASK, BX, BX                  // to their places under the mask
	PDEPQ OTHER, AX, DX                 // the others to theirs
	ORQ   DX, BX                        // together
	MOVQ  BX, (DST)                     // dst[i]
	ADDQ  $8, SRC
	ADDQ  $8, DST
	DECQ  LEFT
	JNZ   deposit
	RET
