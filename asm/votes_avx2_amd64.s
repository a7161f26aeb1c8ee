//go:build !purego

#include "textflag.h"

// votesAVX2 adds 32 hashes, 8 registers, a round with carry-save adders: ONES, TWOS
// and FOURS hold bit 0, 1 and 2 of 4 x 64 counters, and what carries out of FOURS,
// 4 words worth 8 each, is spread over 64 byte-wide counters:
//
//	h0 h1 \                   word      b7 b6 b5 b4 b3 b2 b1 b0
//	       ONES -> TWOS \     VPSHUFB   each byte 8 times
//	h2 h3 /              FOURS -> VPAND     bit i of the i-th
//	h4 ...                    VPCMPEQB  0 or -1
//	                          VPSUBB    from the counters
//
// A round adds at most 4 to a byte, so after 63 rounds, 252, the bytes are added to
// counts and start again. What is left in FOURS, TWOS and ONES and the last hashes,
// at most 4*4+2*4+4+31 = 59 a byte, go the same way in the end.

#define COUNTS DI // the 64 sums
#define HASHES SI // the next hash
#define LEN    CX // hashes to go
#define TURN   AX // rounds until the bytes are added to counts

#define ACC0   Y0  // counters of bits 0-31, a byte each
#define ACC1   Y1  // counters of bits 32-63
#define ONES   Y2  // votes worth 1
#define TWOS   Y3  // votes worth 2
#define FOURS  Y4  // votes worth 4
#define EACH0  Y13 // picks bytes 0-3 of a word, each 8 times
#define EACH1  Y14 // picks bytes 4-7
#define BIT    Y15 // 1, 2, 4, ... 128 and again

DATA each<>+0(SB)/8, $0x0000000000000000
DATA each<>+8(SB)/8, $0x0101010101010101
DATA each<>+16(SB)/8, $0x0202020202020202
DATA each<>+24(SB)/8, $0x0303030303030303
DATA each<>+32(SB)/8, $0x0404040404040404
DATA each<>+40(SB)/8, $0x0505050505050505
DATA each<>+48(SB)/8, $0x0606060606060606
DATA each<>+56(SB)/8, $0x0707070707070707
GLOBL each<>(SB), RODATA|NOPTR, $64

DATA bit<>+0(SB)/8, $0x8040201008040201
GLOBL bit<>(SB), RODATA|NOPTR, $8

// Adds the word in every lane of y to the byte counters; a and b are clobbered.
#define SPREAD(y, a, b) \
	VPSHUFB  EACH0, y, a   \ // bytes 0-3 of the word, eight times each
	VPSHUFB  EACH1, y, b   \ // bytes 4-7
	VPAND    BIT, a, a     \ // lane i: bit i
	VPAND    BIT, b, b     \
	VPCMPEQB BIT, a, a     \ // all ones if it is set
	VPCMPEQB BIT, b, b     \
	VPSUBB   a, ACC0, ACC0 \ // -1 taken off: one vote
	VPSUBB   b, ACC1, ACC1

// The same for each of the four words of y.
#define SPREAD4(y) \
	VPERMQ $0x00, y, Y8  \ // word 0 in all lanes
	VPERMQ $0x55, y, Y9  \ // word 1
	SPREAD(Y8, Y10, Y11) \ // votes of word 0
	VPERMQ $0xaa, y, Y8  \ // word 2
	SPREAD(Y9, Y10, Y11) \ // votes of word 1
	VPERMQ $0xff, y, Y9  \ // word 3
	SPREAD(Y8, Y10, Y11) \ // votes of word 2
	SPREAD(Y9, Y10, Y11)   // votes of word 3

// sum, carry := sum+a+b; a and x are clobbered.
#define CSA(sum, a, b, carry, x) \
	VPXOR sum, a, x       \ // sum ^ a
	VPAND sum, a, carry   \ // carry of those two
	VPXOR x, b, sum       \ // sum ^ a ^ b
	VPAND x, b, x         \ // carry of b
	VPOR  x, carry, carry   // both

// Adds 4 of the byte counters, shifted, to counts.
#define ADD4(i) \
	VPMOVZXBQ bytes-64+i(SP), Y8    \ // four bytes, widened
	VPSLLQ    X12, Y8, Y8           \ // times their worth
	VPADDQ    (i*8)(COUNTS), Y8, Y8 \ // to their sums
	VMOVDQU   Y8, (i*8)(COUNTS)

// Adds the byte counters times 2^X12 to counts and clears them.
#define ADD \
	VMOVDQU ACC0, bytes-64(SP) \ // the counters in memory
	VMOVDQU ACC1, bytes-32(SP) \
	ADD4(0)                    \ // from there to the sums
	ADD4(4)                    \
	ADD4(8)                    \
	ADD4(12)                   \
	ADD4(16)                   \
	ADD4(20)                   \
	ADD4(24)                   \
	ADD4(28)                   \
	ADD4(32)                   \
	ADD4(36)                   \
	ADD4(40)                   \
	ADD4(44)                   \
	ADD4(48)                   \
	ADD4(52)                   \
	ADD4(56)                   \
	ADD4(60)                   \
	VPXOR ACC0, ACC0, ACC0     \ // no votes any more
	VPXOR ACC1, ACC1, ACC1

// func votesAVX2(counts *[64]uint64, hashes []uint64)
TEXT ·votesAVX2(SB), NOSPLIT, $64-32
	// The arguments.
	MOVQ counts+0(FP), COUNTS
	MOVQ hashes_base+8(FP), HASHES
	MOVQ hashes_len+16(FP), LEN
	VMOVDQU each<>+0(SB), EACH0
	VMOVDQU each<>+32(SB), EACH1
	// Lanes of 16 bytes shuffle apart: both lanes hold the whole word.
	VPBROADCASTQ bit<>(SB), BIT
	VPXOR ACC0, ACC0, ACC0              // no votes yet
	VPXOR ACC1, ACC1, ACC1
	SUBQ $32, LEN                       // 32 hashes?
	JCS  tail
	VPXOR ONES, ONES, ONES              // no carries yet
	VPXOR TWOS, TWOS, TWOS
	VPXOR FOURS, FOURS, FOURS
	MOVL $3, R8                         // votes in rounds are worth 8
	VMOVD R8, X12
	MOVL $63, TURN                      // rounds that a byte has room for

round:
	// 32 hashes: eight registers become four words worth eight each.
	VMOVDQU 0(HASHES), Y5               // 8 hashes
	VMOVDQU 32(HASHES), Y6
	CSA(ONES, Y5, Y6, Y7, Y11)           // a two
	VMOVDQU 64(HASHES), Y5              // 8 more
	VMOVDQU 96(HASHES), Y6
	CSA(ONES, Y5, Y6, Y8, Y11)           // a two
	CSA(TWOS, Y7, Y8, Y9, Y11)           // a four
	VMOVDQU 128(HASHES), Y5             // 8 more
	VMOVDQU 160(HASHES), Y6
	CSA(ONES, Y5, Y6, Y7, Y11)           // a two
	VMOVDQU 192(HASHES), Y5             // 8 more
	VMOVDQU 224(HASHES), Y6
	CSA(ONES, Y5, Y6, Y8, Y11)           // a two
	CSA(TWOS, Y7, Y8, Y10, Y11)          // a four
	CSA(FOURS, Y9, Y10, Y7, Y11)         // an eight
	SPREAD4(Y7)                         // to the bytes
	ADDQ $256, HASHES
	DECL TURN                           // do the bytes overflow in the next round?
	JNZ  more
	ADD
	MOVL $63, TURN

more:
	SUBQ $32, LEN                       // 32 more?
	JCC  round
	ADD                                 // what was worth eight is added
	// What is left of the carries: FOURS twice doubled, TWOS once.
	SPREAD4(FOURS)
	VPADDB ACC0, ACC0, ACC0
	VPADDB ACC1, ACC1, ACC1
	SPREAD4(TWOS)
	VPADDB ACC0, ACC0, ACC0
	VPADDB ACC1, ACC1, ACC1
	SPREAD4(ONES)

tail:
	ADDQ $32, LEN                       // 0 to 31 hashes are left
	JZ   end

last:
	VPBROADCASTQ (HASHES), Y8           // one hash
	SPREAD(Y8, Y10, Y11)                // a vote for each bit
	ADDQ $8, HASHES
	DECQ LEN
	JNZ  last

end:
	VPXOR X12, X12, X12                 // these votes are worth 1
	ADD
	VZEROUPPER
	RET

// weightedVotesAVX2 keeps 64 counters of 16 bits in four registers: a quarter of
// the hash is repeated over 16 lanes, lane i keeps the weight if bit i is set. Before
// the weights of some hashes add up to more than 65,535 the counters are added to
// counts.

#define WEIGHTS DX // the next weight
#define SUM     AX // of the weights since then
#define WEIGHT  R8 // of this hash

DATA bits16<>+0(SB)/8, $0x0008000400020001
DATA bits16<>+8(SB)/8, $0x0080004000200010
DATA bits16<>+16(SB)/8, $0x0800040002000100
DATA bits16<>+24(SB)/8, $0x8000400020001000
GLOBL bits16<>(SB), RODATA|NOPTR, $32

// Adds the weights in Y8 to the counters acc of one quarter of the hash.
#define WEIGH(at, acc) \
	VPBROADCASTW at(HASHES), Y9 \ // a quarter of the hash in all lanes
	VPAND    BIT, Y9, Y9        \ // lane i: bit i
	VPCMPEQW BIT, Y9, Y9        \ // all ones if it is set
	VPAND    Y8, Y9, Y9         \ // the weight, or 0
	VPADDW   Y9, acc, acc         // added

#define ADD4W(i) \
	VPMOVZXWQ words-128+(i*2)(SP), Y8 \ // four counters, widened
	VPADDQ    (i*8)(COUNTS), Y8, Y8   \ // to their sums
	VMOVDQU   Y8, (i*8)(COUNTS)

// Adds the counters of 16 bits to counts and clears them.
#define ADDW \
	VMOVDQU Y0, words-128(SP) \ // the counters in memory
	VMOVDQU Y1, words-96(SP)  \
	VMOVDQU Y2, words-64(SP)  \
	VMOVDQU Y3, words-32(SP)  \
	ADD4W(0)                  \ // from there to the sums
	ADD4W(4)                  \
	ADD4W(8)                  \
	ADD4W(12)                 \
	ADD4W(16)                 \
	ADD4W(20)                 \
	ADD4W(24)                 \
	ADD4W(28)                 \
	ADD4W(32)                 \
	ADD4W(36)                 \
	ADD4W(40)                 \
	ADD4W(44)                 \
	ADD4W(48)                 \
	ADD4W(52)                 \
	ADD4W(56)                 \
	ADD4W(60)                 \
	VPXOR Y0, Y0, Y0          \ // no weights any more
	VPXOR Y1, Y1, Y1          \
	VPXOR Y2, Y2, Y2          \
	VPXOR Y3, Y3, Y3

// func weightedVotesAVX2(counts *[64]uint64, hashes []uint64, weights []uint32) bool
TEXT ·weightedVotesAVX2(SB), NOSPLIT, $128-57
	// The arguments.
	MOVQ counts+0(FP), COUNTS
	MOVQ hashes_base+8(FP), HASHES
	MOVQ hashes_len+16(FP), LEN
	MOVQ weights_base+32(FP), WEIGHTS

	// Is any weight too heavy?
	VPXOR Y3, Y3, Y3                    // ORs of the weights
	XORL  R8, R8
	MOVQ  LEN, R9
	SUBQ  $8, R9                        // eight at a time
	JCS   look1

look8:
	VPOR  (WEIGHTS)(R8*4), Y3, Y3       // eight weights
	ADDQ  $8, R8
	CMPQ  R8, R9
	JLS   look8

look1:
	XORL  R10, R10

one:
	CMPQ  R8, LEN
	JCC   looked
	ORL   (WEIGHTS)(R8*4), R10          // one
	INCQ  R8
	JMP   one

looked:
	VMOVD R10, X4                       // all together
	VPOR  Y4, Y3, Y3
	VPSRLD $16, Y3, Y3                  // a bit above the 16th?
	VPTEST Y3, Y3
	JNZ   heavy

	VMOVDQU bits16<>(SB), BIT           // 1, 2, 4, ... 1<<15
	VPXOR Y0, Y0, Y0                    // no weights yet
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORL  SUM, SUM
	TESTQ LEN, LEN
	JZ    stop

weigh:
	MOVL  (WEIGHTS), WEIGHT             // the next weight
	ADDL  WEIGHT, SUM                   // would a counter overflow?
	CMPL  SUM, $0xffff
	JHI   flush

light:
	VPBROADCASTW (WEIGHTS), Y8          // in every lane
	WEIGH(0, Y0)                        // bits 0 to 15
	WEIGH(2, Y1)                        // bits 16 to 31
	WEIGH(4, Y2)                        // bits 32 to 47
	WEIGH(6, Y3)                        // bits 48 to 63
	ADDQ  $8, HASHES                    // the next hash
	ADDQ  $4, WEIGHTS
	DECQ  LEN
	JNZ   weigh

stop:
	ADDW                                // what is left
	MOVB  $1, ret+56(FP)                // all are done
	VZEROUPPER
	RET

flush:
	ADDW                                // empty the counters
	MOVL  WEIGHT, SUM                   // of this one alone
	JMP   light

heavy:
	MOVB  $0, ret+56(FP)                // false: nothing is done
	VZEROUPPER
	RET
