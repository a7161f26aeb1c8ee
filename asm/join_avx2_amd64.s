//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "mula_avx2_amd64.h"

// joinAVX2 compares a word with 16 lanes of its bucket a round and keeps the least
// distance of each lane; only a word with one within k is looked at again. The bound
// is the popcount by table: 11 operations for 8 lanes.

#define DST    DI  // where the next JoinPair goes
#define END    R8  // the last place where a word may begin its hits
#define WORD   SI  // *uint64, this word
#define LAST   R9  // behind the last
#define FIRST  R10
#define LOWS   R11
#define SHIFT  R12
#define MASK   R13
#define LANES  R15
#define LANE0  AX  // half the first lane of the bucket; then the lane itself
#define PTR    BX
#define LANE   DX
#define BITS   R14
#define NUMBER CX  // of the word

#define VK1    Y13 // k + 1
#define ONES   Y12 // 1 in every byte
#define WORDS  Y11 // 1 in every 16 bits
#define VW     Y0  // low half of the word

// The distances of 8 lanes.
#define DISTANCES(at, y, t) \
	VPXOR      at, VW, y    \
	COUNT_BYTES(y, t)       \
	VPMADDUBSW ONES, y, y   \
	VPMADDWD   WORDS, y, y

// func joinAVX2(dst []JoinPair, words []uint64, base uint32, first, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int)
TEXT ·joinAVX2(SB), NOSPLIT, $0-120
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	MOVQ words_base+24(FP), WORD
	MOVQ words_len+32(FP), LAST
	MOVQ first+56(FP), FIRST
	MOVQ lows+64(FP), LOWS
	MOVQ shift+72(FP), SHIFT
	MOVQ mask+80(FP), MASK
	MOVQ lanes+88(FP), LANES
	MOVL k+96(FP), AX
	INCL AX
	VMOVD AX, X13
	VPBROADCASTD X13, VK1
	LOAD_TABLE(AX, X2)
	VPCMPEQD Y2, Y2, Y2
	VPABSB Y2, ONES
	VPABSW Y2, WORDS
	LEAQ (WORD)(LAST*8), LAST
	SUBQ LANES, END
	LEAQ (DST)(END*8), END

	PCALIGN $32
word:
	CMPQ WORD, LAST
	JCC  done
	MOVQ (WORD), LANE0
	VPBROADCASTD (WORD), VW
	SHRXQ SHIFT, LANE0, LANE0
	ANDQ MASK, LANE0
	MOVL (FIRST)(LANE0*4), LANE0
	TESTL $const_JoinLong, LANE0
	JNZ  done                    // the caller's
	LEAQ (LOWS)(LANE0*8), PTR
	DISTANCES((PTR), Y3, Y5)
	DISTANCES(32(PTR), Y4, Y6)
	VPMINUD Y3, Y4, Y7
	MOVL $16, LANE
	CMPQ LANE, LANES
	JCC  least
lanes:
	DISTANCES((PTR)(LANE*4), Y3, Y5)
	DISTANCES(32(PTR)(LANE*4), Y4, Y6)
	VPMINUD Y3, Y4, Y4
	VPMINUD Y4, Y7, Y7
	ADDQ $16, LANE
	CMPQ LANE, LANES
	JCS  lanes
least:
	VPCMPGTD Y7, VK1, Y7
	VPTEST Y7, Y7
	JNZ  again
	ADDQ $8, WORD
	JMP  word

	// The same word, of which each hit is written.
again:
	CMPQ DST, END
	JGT  done                    // dst might not take its hits
	MOVQ WORD, NUMBER
	SUBQ words_base+24(FP), NUMBER
	SHRQ $3, NUMBER
	ADDL base+48(FP), NUMBER
	ADDL LANE0, LANE0
	XORL LANE, LANE
vector:
	DISTANCES((PTR)(LANE*4), Y3, Y5)
	VPCMPGTD Y3, VK1, Y3
	VMOVMSKPS Y3, BITS
	TESTL BITS, BITS
	JZ   none
hit:
	TZCNTL BITS, R9
	ADDL LANE, R9
	ADDL LANE0, R9
	MOVL NUMBER, JoinPair_Word(DST)
	MOVL R9, JoinPair_Lane(DST)
	ADDQ $JoinPair__size, DST
	BLSRL BITS, BITS
	JNZ  hit
none:
	ADDQ $8, LANE
	CMPQ LANE, LANES
	JCS  vector
	MOVQ words_base+24(FP), R9
	MOVQ words_len+32(FP), BITS
	LEAQ (R9)(BITS*8), LAST
	ADDQ $8, WORD
	JMP  word

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $3, DST
	MOVQ DST, hits+104(FP)
	SUBQ words_base+24(FP), WORD
	SHRQ $3, WORD
	MOVQ WORD, done+112(FP)
	VZEROUPPER
	RET
