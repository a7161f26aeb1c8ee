//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Both forms permute a fingerprint (see permute_amd64.s), split its key into the
// number of its pile and the word, and append the word. VPSHUFBITQMB brings the bits
// that the word keeps to the low end at once. A pile's words begin at a
// multiple of its room, a power of two, so that a pile is full when the place for
// its next word is such a multiple.

#define SRC    SI
#define LAST   CX  // behind the last fingerprint
#define WORDS  DI
#define NEXT   R8  // *uint32 of pile 0
#define ROW    R9  // of this fingerprint, in its place
#define STEP   R10 // 1 in that place
#define KEEP   R11
#define SHIFT  R12 // 64 - Bits
#define FILLED R13 // words that a pile takes, less one
#define KEY    AX
#define PILE   BX
#define AT     DX

#define PREPARE \
	MOVQ p+0(FP), AX            \
	MOVQ src_base+8(FP), SRC    \
	MOVQ src_len+16(FP), LAST   \
	LEAQ (SRC)(LAST*8), LAST    \
	MOVQ KeyPartitions_Words(AX), WORDS \
	MOVQ KeyPartitions_Next(AX), NEXT   \
	MOVQ KeyPartitions_Keep(AX), KEEP   \
	MOVQ row+32(FP), ROW        \
	SHLXQ KEEP, ROW, ROW        \
	MOVL $1, STEP               \
	MOVQ KeyPartitions_Room(AX), FILLED \
	SHLXQ FILLED, STEP, FILLED  \
	DECQ FILLED                 \
	SHLXQ KEEP, STEP, STEP      \
	MOVL $64, SHIFT             \
	SUBQ KeyPartitions_Bits(AX), SHIFT

// key, at the front of PILE -> word in its pile
#define APPEND(step) \
	BZHIQ KEEP, KEY, KEY        \
	ADDQ  ROW, KEY              \
	ADDQ  step, ROW             \
	MOVL  (NEXT)(PILE*4), AT    \
	MOVQ  KEY, (WORDS)(AT*8)    \
	INCL  AT                    \
	MOVL  AT, (NEXT)(PILE*4)    \
	TESTL FILLED, AT

#define FINISH(done, full) \
	MOVQ PILE, full             \
	SUBQ src_base+8(FP), SRC    \
	SHRQ $3, SRC                \
	MOVQ SRC, done              \
	RET

#define INDEX Z0

#define ONE(at, mask) \
	VPBROADCASTQ at(SRC), Z1     \
	VPSHUFBITQMB INDEX, Z1, mask

// func scatterKeysAVX512(p *KeyPartitions, src []uint64, row uint64, index *[64]uint8) (done, full int)
TEXT ·scatterKeysAVX512(SB), NOSPLIT, $0-64
	PREPARE
	MOVQ index+40(FP), AX
	VMOVDQU64 (AX), INDEX
	SUBQ $24, LAST

	PCALIGN $32
four:
	CMPQ  SRC, LAST
	JCC   rest
	ONE(0, K1)
	ONE(8, K2)
	ONE(16, K3)
	ONE(24, K4)
	KMOVQ K1, KEY
	SHRXQ SHIFT, KEY, PILE
	APPEND(STEP)
	JZ    full1
	KMOVQ K2, KEY
	SHRXQ SHIFT, KEY, PILE
	APPEND(STEP)
	JZ    full2
	KMOVQ K3, KEY
	SHRXQ SHIFT, KEY, PILE
	APPEND(STEP)
	JZ    full3
	KMOVQ K4, KEY
	SHRXQ SHIFT, KEY, PILE
	ADDQ  $32, SRC
	APPEND(STEP)
	JNZ   four
	JMP   full

rest:
	ADDQ  $24, LAST
one:
	CMPQ  SRC, LAST
	JCC   none
	ONE(0, K1)
	KMOVQ K1, KEY
	SHRXQ SHIFT, KEY, PILE
	ADDQ  $8, SRC
	APPEND(STEP)
	JNZ   one
	JMP   full

none:
	MOVQ  $-1, PILE
	JMP   full
full3:
	ADDQ  $8, SRC
full2:
	ADDQ  $8, SRC
full1:
	ADDQ  $8, SRC
full:
	VZEROUPPER
	FINISH(done+48(FP), full+56(FP))

// The BMI2 form: two PEXT a key, on port 1, so two cycles a key.

#define DROP   CX  // low bits that a word does not keep; LAST is in memory
#define MASK   R14
#define OTHER  R15
#define FRONT  R10 // 64 - leading bits; STEP is in memory

// func scatterKeysBMI2(p *KeyPartitions, src []uint64, row uint64) (done, full int)
TEXT ·scatterKeysBMI2(SB), NOSPLIT, $16-56
	PREPARE
	MOVQ LAST, last-8(SP)
	MOVQ STEP, step-16(SP)
	MOVL $64, DROP
	SUBQ KeyPartitions_Bits(AX), DROP
	SUBQ KEEP, DROP
	MOVQ KeyPartitions_Mask(AX), MASK
	MOVQ MASK, OTHER
	NOTQ OTHER
	POPCNTQ OTHER, FRONT // without leading bits, what is shifted by 64 is 0

	PCALIGN $32
extract:
	CMPQ  SRC, last-8(SP)
	JCC   empty
	MOVQ  (SRC), KEY
	ADDQ  $8, SRC
	PEXTQ MASK, KEY, PILE
	PEXTQ OTHER, KEY, KEY
	SHLXQ FRONT, PILE, PILE
	ORQ   PILE, KEY
	SHRXQ SHIFT, KEY, PILE
	SHRXQ DROP, KEY, KEY
	APPEND(step-16(SP))
	JNZ   extract
	JMP   ended
empty:
	MOVQ  $-1, PILE
ended:
	FINISH(done+40(FP), full+48(FP))
