//go:build !purego

#include "textflag.h"

// weightedVotesAVX2 keeps 64 counters of 16 bits in four registers: a quarter of
// the hash is repeated over 16 lanes, lane i keeps the weight if bit i is set. Before
// the weights of some hashes add up to more than 65,535 the counters are added to
// counts.

#define COUNTS  DI // the 64 sums
#define HASHES  SI // the next hash
#define LEN     CX // hashes to go
#define WEIGHTS DX // the next weight
#define SUM     AX // of the weights since then
#define WEIGHT  R8 // of this hash
#define BIT     Y15 // 1, 2, 4, ... 1<<15

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
