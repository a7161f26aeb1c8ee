//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// joinAVX512 compares four words a round with all lanes of their buckets at once and
// looks at the round again, a word at a time, only where the least of all distances is
// within k. No branch depends on how many queries a bucket has, unless it is long.
//
//	word     | row ...... | bucket | low 32 bits |
//	                          |          `-- broadcast, XOR, popcount, least, compare
//	first    [bucket] <-------'                     |
//	lows     [...|-------- lanes --------|...] -----'
//
// The bound of a round of 4 words and 32 lanes is port 5, with 8 popcounts and a
// comparison, and the front end, with 56 operations: 9 cycles.

#define DST    DI  // address of the next JoinPair
#define END    R8  // the last place where a word may begin its hits
#define WORD   SI  // *uint64, this word
#define LAST   R9  // end of the words
#define FIRST  R10 // of each bucket: half its first lane, JoinLong
#define LOWS   R11 // all lanes
#define SHIFT  R12 // of a word, to the number of its bucket
#define MASK   R13 // of that number
#define LANES  R15 // how many a word is compared with
#define F0     AX  // bucket of a word: half its first lane; then its first lows
#define F1     BX  // of the second word
#define F2     CX  // of the third
#define F3     DX  // of the fourth
#define LONG   R14 // of any of the four: JoinLong

// looking again
#define NUMBER CX  // of the word
#define LANE   DX  // the lane, less the bucket's first
#define BITS   R14 // one for each of 16 lanes that is a hit

#define VK     Z0 // k in all lanes

#define BUCKET(off, at, low) \
	MOVQ off(WORD), at          \ // the word
	VPBROADCASTD off(WORD), low \ // its low half in all lanes
	SHRXQ SHIFT, at, at         \ // the number of its bucket, modulo how many there are
	ANDQ  MASK, at              \
	MOVL  (FIRST)(at*4), at       // where that begins

#define BUCKETS \
	BUCKET(0, F0, Z1)           \ // of four words
	BUCKET(8, F1, Z2)           \
	BUCKET(16, F2, Z3)          \
	BUCKET(24, F3, Z4)          \
	MOVL  F0, LONG              \ // LONG is not 0 if any bucket has more than LANES lanes
	ORL   F1, LONG              \
	ORL   F2, LONG              \
	ORL   F3, LONG              \
	TESTL $const_JoinLong, LONG   // then the words are looked at one by one

#define LOCATE \
	LEAQ  (LOWS)(F0*8), F0 \ // of four words
	LEAQ  (LOWS)(F1*8), F1 \
	LEAQ  (LOWS)(F2*8), F2 \
	LEAQ  (LOWS)(F3*8), F3

// func joinAVX512(dst []JoinPair, words []uint64, base uint32, first, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int)
TEXT ·joinAVX512(SB), NOSPLIT, $8-120
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
	MOVL k+96(FP), AX
	VPBROADCASTD AX, VK                 // k in all lanes
	LEAQ (WORD)(LAST*8), LAST           // one past the last word
	SUBQ LANES, END                     // END = the last place with room for the hits of a word in all lanes
	LEAQ (DST)(END*8), END

	// Four words left? Then a round by the number of lanes.
next:
	LEAQ -32(LAST), F0
	CMPQ WORD, F0
	JHI  again
	CMPQ LANES, $16
	JEQ  round16
	CMPQ LANES, $32
	JEQ  round32

	// Any number of lanes.
	PCALIGN $32
round:
	BUCKETS
	JNZ  again
	LOCATE
	// The first 16 lanes of each word: Z5 to Z8 keep the least distance of each lane.
	VPXORD (F0), Z1, Z5                 // word 0
	VPXORD (F1), Z2, Z6                 // word 1
	VPXORD (F2), Z3, Z7                 // word 2
	VPXORD (F3), Z4, Z8                 // word 3
	VPOPCNTD Z5, Z5                     // bits that differ
	VPOPCNTD Z6, Z6
	VPOPCNTD Z7, Z7
	VPOPCNTD Z8, Z8
	MOVL $16, R14
lanes:
	// 16 lanes more of each.
	VPXORD (F0)(R14*4), Z1, Z9          // word 0
	VPXORD (F1)(R14*4), Z2, Z10         // word 1
	VPXORD (F2)(R14*4), Z3, Z11         // word 2
	VPXORD (F3)(R14*4), Z4, Z12         // word 3
	VPOPCNTD Z9, Z9                     // bits that differ
	VPOPCNTD Z10, Z10
	VPOPCNTD Z11, Z11
	VPOPCNTD Z12, Z12
	VPMINUD Z9, Z5, Z5                  // the least of each lane
	VPMINUD Z10, Z6, Z6
	VPMINUD Z11, Z7, Z7
	VPMINUD Z12, Z8, Z8
	ADDQ $16, R14
	CMPQ R14, LANES
	JCS  lanes
	// Of all four words: is any lane within k?
	VPMINUD Z5, Z6, Z5
	VPMINUD Z7, Z8, Z7
	VPMINUD Z5, Z7, Z5
	VPCMPUD $2, VK, Z5, K1              // least <= k
	KORTESTW K1, K1
	JNZ  again                          // look at the four again
	ADDQ $32, WORD                      // the next four
	LEAQ 32(WORD), F0                   // if that many remain
	CMPQ F0, LAST
	JLS  round
	JMP  again

	PCALIGN $32
round32:
	BUCKETS
	JNZ  again
	LOCATE
	// 32 lanes of four words, unrolled.
	VPXORD (F0), Z1, Z5                 // word 0
	VPXORD 64(F0), Z1, Z9
	VPXORD (F1), Z2, Z6                 // word 1
	VPXORD 64(F1), Z2, Z10
	VPXORD (F2), Z3, Z7                 // word 2
	VPXORD 64(F2), Z3, Z11
	VPXORD (F3), Z4, Z8                 // word 3
	VPXORD 64(F3), Z4, Z12
	VPOPCNTD Z5, Z5                     // bits that differ
	VPOPCNTD Z9, Z9
	VPOPCNTD Z6, Z6
	VPOPCNTD Z10, Z10
	VPOPCNTD Z7, Z7
	VPOPCNTD Z11, Z11
	VPOPCNTD Z8, Z8
	VPOPCNTD Z12, Z12
	VPMINUD Z5, Z9, Z5                  // the least of each lane
	VPMINUD Z6, Z10, Z6
	VPMINUD Z7, Z11, Z7
	VPMINUD Z8, Z12, Z8
	// Of all four words: is any lane within k?
	VPMINUD Z5, Z6, Z5
	VPMINUD Z7, Z8, Z7
	VPMINUD Z5, Z7, Z5
	VPCMPUD $2, VK, Z5, K1              // least <= k
	KORTESTW K1, K1
	JNZ  again                          // look at the four again
	ADDQ $32, WORD                      // the next four
	LEAQ 32(WORD), F0                   // if that many remain
	CMPQ F0, LAST
	JLS  round32
	JMP  again

	PCALIGN $32
round16:
	BUCKETS
	JNZ  again
	// 16 lanes of four words, where the buckets' lanes are operands.
	VPXORD (LOWS)(F0*8), Z1, Z5         // word 0
	VPXORD (LOWS)(F1*8), Z2, Z6         // word 1
	VPXORD (LOWS)(F2*8), Z3, Z7         // word 2
	VPXORD (LOWS)(F3*8), Z4, Z8         // word 3
	VPOPCNTD Z5, Z5                     // bits that differ
	VPOPCNTD Z6, Z6
	VPOPCNTD Z7, Z7
	VPOPCNTD Z8, Z8
	// Of all four words: is any lane within k?
	VPMINUD Z5, Z6, Z5
	VPMINUD Z7, Z8, Z7
	VPMINUD Z5, Z7, Z5
	VPCMPUD $2, VK, Z5, K1              // least <= k
	KORTESTW K1, K1
	JNZ  again                          // look at the four again
	ADDQ $32, WORD                      // the next four
	LEAQ 32(WORD), F0                   // if that many remain
	CMPQ F0, LAST
	JLS  round16

	// The next four words, or the rest, one by one: each hit is written.
again:
	LEAQ 32(WORD), F0                   // stop = four words on, but not past the last
	CMPQ F0, LAST
	CMOVQHI LAST, F0
	MOVQ F0, stop-8(SP)
one:
	CMPQ WORD, stop-8(SP)               // all looked at?
	JCC  ready
	CMPQ DST, END
	JGT  done                    // dst might not take its hits
	BUCKET(0, F0, Z1)                   // the word's bucket
	TESTL $const_JoinLong, F0
	JNZ  done                    // the caller's
	MOVQ WORD, NUMBER                   // NUMBER = base + number of the word
	SUBQ words_base+24(FP), NUMBER
	SHRQ $3, NUMBER
	ADDL base+48(FP), NUMBER
	ADDL F0, F0                  // the lane itself
	XORL LANE, LANE
vector:
	VPXORD (LOWS)(F0*4), Z1, Z5         // 16 lanes
	VPOPCNTD Z5, Z5                     // bits that differ
	VPCMPUD $2, VK, Z5, K1              // those within k
	KMOVW K1, BITS                      // a bit a lane
	TESTL BITS, BITS
	JZ   none
hit:
	TZCNTL BITS, F1                     // the first hit
	ADDL F0, F1                         // its lane among all
	MOVL NUMBER, JoinPair_Word(DST)     // write the pair
	MOVL F1, JoinPair_Lane(DST)
	ADDQ $JoinPair__size, DST
	BLSRL BITS, BITS                    // the next hit of these 16
	JNZ  hit
none:
	ADDQ $16, F0                        // 16 lanes further
	ADDQ $16, LANE
	CMPQ LANE, LANES                    // the last?
	JCS  vector
	ADDQ $8, WORD                       // the next word
	JMP  one
ready:
	CMPQ WORD, LAST                     // more words: in fours again
	JCS  next

done:
	SUBQ dst_base+0(FP), DST            // hits, of eight bytes each
	SHRQ $3, DST
	MOVQ DST, hits+104(FP)
	SUBQ words_base+24(FP), WORD        // done words, of eight bytes each
	SHRQ $3, WORD
	MOVQ WORD, done+112(FP)
	VZEROUPPER                          // SSE code may follow
	RET
