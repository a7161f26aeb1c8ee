//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "mula_avx2_amd64.h"

// joinAVX2 compares a word with 16 lanes of its bucket a round and keeps the least
// distance of each lane; only a word with one within k is looked at again. The bound
// is the popcount by table: 11 operations for 8 lanes.

#define DST    DI  // address of the next JoinPair
#define END    R8  // the last place where a word may begin its hits
#define WORD   SI  // *uint64, this word
#define LAST   R9  // end of the words
#define FIRST  R10 // of each bucket: half its first lane, JoinLong
#define LOWS   R11 // all lanes
#define SHIFT  R12 // of a word, to the number of its bucket
#define MASK   R13 // of that number
#define LANES  R15 // how many a word is compared with
#define LANE0  AX  // half the first lane of the bucket; then the lane itself
#define PTR    BX  // the bucket's lanes
#define LANE   DX  // the lane, less the bucket's first
#define BITS   R14 // one for each of 8 lanes that is a hit
#define NUMBER CX  // of the word

#define VK1    Y13 // k + 1
#define ONES   Y12 // 1 in every byte
#define WORDS  Y11 // 1 in every 16 bits
#define VW     Y0  // low half of the word

// The distances of 8 lanes.
#define DISTANCES(at, y, t) \
	VPXOR      at, VW, y   \ // the bits that differ
	COUNT_BYTES(y, t)      \ // counted by byte
	VPMADDUBSW ONES, y, y  \ // by 16 bits
	VPMADDWD   WORDS, y, y   // by 32 bits: the distance of each lane

// func joinAVX2(dst []JoinPair, words []uint64, base uint32, first, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int)
TEXT ·joinAVX2(SB), NOSPLIT, $0-120
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	MOVQ words_base+24(FP), WORD
	MOVQ words_len+32(FP), LAST
	MOVQ first+56(FP), FIRST
	MOVQ lows+64(FP), LOWS
	MOVQ shift+72(FP), SHIFT
	MOVQ mask+80(FP), MASK
	MOVQ lanes+88(FP), LANES
	MOVL k+96(FP), AX                   // distances below k+1 are hits
	INCL AX
	VMOVD AX, X13                       // in all lanes
	VPBROADCASTD X13, VK1
	LOAD_TABLE(AX, X2)                  // the popcount by table
	VPCMPEQD Y2, Y2, Y2                 // all ones, which is -1; its magnitude is 1
	VPABSB Y2, ONES
	VPABSW Y2, WORDS
	LEAQ (WORD)(LAST*8), LAST           // one past the last word
	SUBQ LANES, END                     // END = the last place with room for the hits of a word in all lanes
	LEAQ (DST)(END*8), END

	PCALIGN $32
word:
	CMPQ WORD, LAST                     // the last word?
	JCC  done
	MOVQ (WORD), LANE0                  // the word
	VPBROADCASTD (WORD), VW             // its low half in all lanes
	SHRXQ SHIFT, LANE0, LANE0           // the number of its bucket
	ANDQ MASK, LANE0
	MOVL (FIRST)(LANE0*4), LANE0        // where that begins
	TESTL $const_JoinLong, LANE0
	JNZ  done                    // the caller's
	LEAQ (LOWS)(LANE0*8), PTR           // its lanes
	// The first 16 lanes, then 16 more a round: Y7 has the least distance of each.
	DISTANCES((PTR), Y3, Y5)
	DISTANCES(32(PTR), Y4, Y6)
	VPMINUD Y3, Y4, Y7
	MOVL $16, LANE
	CMPQ LANE, LANES
	JCC  least
lanes:
	DISTANCES((PTR)(LANE*4), Y3, Y5)    // of 16 lanes
	DISTANCES(32(PTR)(LANE*4), Y4, Y6)
	VPMINUD Y3, Y4, Y4                  // the least of both
	VPMINUD Y4, Y7, Y7                  // and of all so far
	ADDQ $16, LANE
	CMPQ LANE, LANES
	JCS  lanes
	// Is any within k?
least:
	VPCMPGTD Y7, VK1, Y7                // all ones where k+1 is greater
	VPTEST Y7, Y7
	JNZ  again
	ADDQ $8, WORD                       // the next word
	JMP  word

	// The same word, and write each of its hits.
again:
	CMPQ DST, END
	JGT  done                    // dst might not take its hits
	MOVQ WORD, NUMBER                   // NUMBER = base + number of the word
	SUBQ words_base+24(FP), NUMBER
	SHRQ $3, NUMBER
	ADDL base+48(FP), NUMBER
	ADDL LANE0, LANE0                   // the lane itself
	XORL LANE, LANE
vector:
	DISTANCES((PTR)(LANE*4), Y3, Y5)    // of eight lanes
	VPCMPGTD Y3, VK1, Y3                // all ones where k+1 is greater
	VMOVMSKPS Y3, BITS                  // a bit a lane
	TESTL BITS, BITS
	JZ   none
hit:
	TZCNTL BITS, R9                     // the first hit
	ADDL LANE, R9                       // LANE0 + LANE + its number: the lane among all
	ADDL LANE0, R9
	MOVL NUMBER, JoinPair_Word(DST)     // write the pair
	MOVL R9, JoinPair_Lane(DST)
	ADDQ $JoinPair__size, DST
	BLSRL BITS, BITS                    // the next hit of these eight
	JNZ  hit
none:
	ADDQ $8, LANE                       // the next eight lanes
	CMPQ LANE, LANES
	JCS  vector
	// R9 was LAST: make it again.
	MOVQ words_base+24(FP), R9
	MOVQ words_len+32(FP), BITS
	LEAQ (R9)(BITS*8), LAST
	ADDQ $8, WORD
	JMP  word

done:
	SUBQ dst_base+0(FP), DST            // hits, of eight bytes each
	SHRQ $3, DST
	MOVQ DST, hits+104(FP)
	SUBQ words_base+24(FP), WORD        // done words, of eight bytes each
	SHRQ $3, WORD
	MOVQ WORD, done+112(FP)
	VZEROUPPER                          // SSE code may follow
	RET
