//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Both forms permute a fingerprint (see permute_amd64.s), split its key into the
// number of its partition and the word, and append the word. VPSHUFBITQMB brings the bits
// that the word keeps to the low end at once. A partition's words begin at a
// multiple of its room, a power of two, so that a partition is full when the place for
// its next word is such a multiple.

#define SRC    SI
#define LAST   CX  // behind the last fingerprint
#define WORDS  DI  // of all partitions
#define NEXT   R8  // *uint32 of partition 0
#define ROW    R9  // of this fingerprint, in its place
#define STEP   R10 // 1 in that place
#define KEEP   R11 // bits that a word keeps
#define SHIFT  R12 // 64 - Bits
#define FILLED R13 // words that a partition takes, less one
#define KEY    AX  // the permuted key, then the word
#define PART   BX  // number of the partition
#define AT     DX  // place of its next word

#define PREPARE \
	MOVQ p+0(FP), AX                    \ // the partitions
	MOVQ src_base+8(FP), SRC            \ // src[0]
	MOVQ src_len+16(FP), LAST           \ // len(src)
	LEAQ (SRC)(LAST*8), LAST            \ // one past the last
	MOVQ KeyPartitions_Words(AX), WORDS \ // one array for all partitions
	MOVQ KeyPartitions_Next(AX), NEXT   \ // by partition
	MOVQ KeyPartitions_Keep(AX), KEEP   \ // bits that a word keeps
	MOVQ row+32(FP), ROW                \ // the first row, above the bits that a word keeps
	SHLXQ KEEP, ROW, ROW                \
	MOVL $1, STEP                       \
	MOVQ KeyPartitions_Room(AX), FILLED \ // FILLED = words of a partition less one: a mask of a place in it
	SHLXQ FILLED, STEP, FILLED          \
	DECQ FILLED                         \
	SHLXQ KEEP, STEP, STEP              \ // STEP = one row, above the bits that a word keeps
	MOVL $64, SHIFT                     \ // SHIFT = 64 - Bits
	SUBQ KeyPartitions_Bits(AX), SHIFT

// key, at the front of PART -> word in its partition
#define APPEND(step) \
	BZHIQ KEEP, KEY, KEY     \ // the bits that the word keeps
	ADDQ  ROW, KEY           \ // and the row above them
	ADDQ  step, ROW          \ // the next row
	MOVL  (NEXT)(PART*4), AT \ // its place
	MOVQ  KEY, (WORDS)(AT*8) \ // append the word
	INCL  AT                 \ // the partition's next place
	MOVL  AT, (NEXT)(PART*4) \
	TESTL FILLED, AT           // zero: the partition is full

#define FINISH(done, full) \
	MOVQ PART, full          \ // the partition that is full, or -1
	SUBQ src_base+8(FP), SRC \ // done = fingerprints that are done, of eight bytes
	SHRQ $3, SRC             \
	MOVQ SRC, done           \
	RET

#define INDEX Z0 // the permutation: source bit of each bit

#define ONE(at, mask) \
	VPBROADCASTQ at(SRC), Z1     \ // the fingerprint in all lanes
	VPSHUFBITQMB INDEX, Z1, mask   // each lane answers eight bits of the key

// func scatterKeysAVX512(p *KeyPartitions, src []uint64, row uint64, index *[64]uint8) (done, full int)
TEXT ·scatterKeysAVX512(SB), NOSPLIT, $0-64
	PREPARE
	MOVQ index+40(FP), AX               // the permutation
	VMOVDQU64 (AX), INDEX
	SUBQ $24, LAST                      // one past the last group of four begins here

	PCALIGN $32
four:
	CMPQ  SRC, LAST                     // four fingerprints left?
	JCC   rest
	// Four keys: 64 picked bits each. The look-ups overlap the appends that follow.
	ONE(0, K1)
	ONE(8, K2)
	ONE(16, K3)
	ONE(24, K4)
	// Append the four words, one after the other; the partition that fills ends the call.
	KMOVQ K1, KEY
	SHRXQ SHIFT, KEY, PART              // its partition
	APPEND(STEP)
	JZ    full1                         // SRC has not moved yet
	KMOVQ K2, KEY
	SHRXQ SHIFT, KEY, PART              // its partition
	APPEND(STEP)
	JZ    full2
	KMOVQ K3, KEY
	SHRXQ SHIFT, KEY, PART              // its partition
	APPEND(STEP)
	JZ    full3
	KMOVQ K4, KEY
	SHRXQ SHIFT, KEY, PART              // its partition
	ADDQ  $32, SRC                      // past these four
	APPEND(STEP)
	JNZ   four
	JMP   full

rest:
	ADDQ  $24, LAST                     // one past the last again
one:
	CMPQ  SRC, LAST
	JCC   none                          // any left?
	ONE(0, K1)
	KMOVQ K1, KEY                       // the key
	SHRXQ SHIFT, KEY, PART              // its partition
	ADDQ  $8, SRC                       // past it
	APPEND(STEP)
	JNZ   one
	JMP   full

none:
	MOVQ  $-1, PART                     // no partition is full
	JMP   full
	// SRC stood at the first of the four: behind the one that filled a partition are as many as it is of them.
full3:
	ADDQ  $8, SRC
full2:
	ADDQ  $8, SRC
full1:
	ADDQ  $8, SRC
full:
	VZEROUPPER                          // SSE code may follow
	FINISH(done+48(FP), full+56(FP))

// The BMI2 form: two PEXT a key, on port 1, so two cycles a key.

#define DROP   CX  // low bits that a word does not keep; LAST is in memory
#define MASK   R14 // leading bits of a key
#define OTHER  R15 // the others
#define FRONT  R10 // 64 - leading bits; STEP is in memory

// func scatterKeysBMI2(p *KeyPartitions, src []uint64, row uint64) (done, full int)
TEXT ·scatterKeysBMI2(SB), NOSPLIT, $16-56
	PREPARE
	MOVQ LAST, last-8(SP)               // two registers are too few: these lie in memory
	MOVQ STEP, step-16(SP)
	MOVL $64, DROP                      // DROP = 64 - Bits - Keep
	SUBQ KeyPartitions_Bits(AX), DROP
	SUBQ KEEP, DROP
	MOVQ KeyPartitions_Mask(AX), MASK   // the leading bits, and the others
	MOVQ MASK, OTHER
	NOTQ OTHER
	POPCNTQ OTHER, FRONT // without leading bits, what is shifted by 64 is 0

	PCALIGN $32
extract:
	CMPQ  SRC, last-8(SP)               // any left?
	JCC   empty
	MOVQ  (SRC), KEY                    // the fingerprint
	ADDQ  $8, SRC                       // past it
	PEXTQ MASK, KEY, PART               // the leading bits, in order
	PEXTQ OTHER, KEY, KEY               // the others, in order
	SHLXQ FRONT, PART, PART             // the leading ones to the front
	ORQ   PART, KEY                     // the permuted key
	SHRXQ SHIFT, KEY, PART              // its partition
	SHRXQ DROP, KEY, KEY                // the kept bits to the low end
	APPEND(step-16(SP))
	JNZ   extract
	JMP   ended
empty:
	MOVQ  $-1, PART                     // no partition is full
ended:
	FINISH(done+40(FP), full+48(FP))
