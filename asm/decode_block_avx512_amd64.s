//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "decode_round_amd64.h"

// The first half is UP, the second DOWN: its keys go downwards.

#define WINDOW  R8  // the entries
#define HIGHER  R9  // all bits but the window's 12
#define ROUNDS  CX  // of look-ups to go
#define SUM     R15 // the three entries of a round, summed

#define UPBITS    R10 // the next bits of code
#define UPCOUNT   R11 // how many of them count
#define UPNEXT    R12 // where the next refill reads
#define UPOUT     R13 // where the next symbols go
#define DOWNBITS  SI
#define DOWNCOUNT DI
#define DOWNNEXT  DX
#define DOWNOUT   R14

// On the stack: the symbols of each half; 63 less each; by groups of eight, where their raw bits end.
#define UPSYMBOLS   upSymbols-768(SP)
#define DOWNSYMBOLS downSymbols-1536(SP)
#define UPSHIFTS    upShifts-2304(SP)
#define DOWNSHIFTS  downShifts-3072(SP)
#define UPENDS      upEnds-3840(SP)
#define DOWNENDS    downEnds-4608(SP)
#define BUDGET      budget-4616(SP) // rounds that may be added to the forecast

// BEGIN takes the first 56 bits of a half's codes. NEXT is the half.
#define BEGIN(BITS, COUNT, NEXT) \
	MOVQ 2(NEXT), BITS    \ // behind the count of keys
	MOVL $56, COUNT       \
	ADDQ $9, NEXT           // the next refill reads behind them

DATA ·swapBytes+0(SB)/8, $0x0001020304050607
DATA ·swapBytes+8(SB)/8, $0x08090a0b0c0d0e0f
GLOBL ·swapBytes(SB), RODATA|NOPTR, $16

#define ENDS    Z16 // T of the next group: where its raw bits end, less 57; in all lanes
#define KEY     Z17 // the last key, in all lanes
#define ASCEND  Z18 // AND of key << (63-h)
#define MOST    Z19 // largest symbols
#define ZERO    Z20
#define ONES    Z21
#define SEVEN   Z22 // 7 in every lane
#define B63     Z23 // 63 in every byte
#define LENGTHS Z24 // of the symbols' codes, by symbol
#define CODES   Z25 // sums of codes' lengths
#define BEFORE  Z26 // masks of the bytes that come before each lane's
#define SWAP    Z27 // a shuffle that turns each group around
#define SEVENTH Z28 // the index 7, in every lane

#define SYMBOLS R10
#define SHIFTS  R11
#define GROUPS  R12
#define HALF    SI
#define DST     DI

// SUMS goes over WANT, at least one, symbols of a half, 64 at once: it clears those behind them, turns each group of
// eight around if ORDER does, and stores 63 less each, and the ends of each group's raw bits. Then it
// leaves to other a half with an h above 57, or with raw bits in its first 57, and to corrupt one whose codes and raw bits meet.
#define SUMS(loop, ORDER, WANT) \
	MOVQ         WANT, AX               \
loop:                                       \
	MOVL         $64, BX                \ // K2 = a bit for each symbol that is left
	CMPQ         AX, BX                 \
	CMOVQLT      AX, BX                 \
	MOVQ         $-1, DX                \
	BZHIQ        BX, DX, DX             \
	KMOVQ        DX, K2                 \
	VMOVDQU8.Z   (SYMBOLS), K2, Z0      \ // the symbols, and zeros behind them
	VPMAXUB      Z0, MOST, MOST         \
	VPERMB.Z     LENGTHS, Z0, K2, Z1    \ // the lengths of their codes
	VPSADBW      ZERO, Z1, Z1           \
	VPADDQ       Z1, CODES, CODES       \
	VPSADBW      ZERO, Z0, Z2           \ // raw bits of each group
	VALIGNQ      $7, ZERO, Z2, Z3       \ // and of those before: prefix sums
	VPADDQ       Z2, Z3, Z3             \
	VALIGNQ      $6, ZERO, Z3, Z4       \
	VPADDQ       Z4, Z3, Z3             \
	VALIGNQ      $4, ZERO, Z3, Z4       \
	VPADDQ       Z4, Z3, Z3             \
	VPSUBQ       Z3, ENDS, Z4           \ // T behind each group
	VPADDQ       Z4, Z2, Z2             \ // T before it
	VMOVDQU64    Z2, (GROUPS)           \
	VPERMQ       Z4, SEVENTH, ENDS      \
	ORDER                               \
	VMOVDQU64    Z0, (SYMBOLS)          \
	VPSUBB       Z0, B63, Z1            \
	VMOVDQU64    Z1, (SHIFTS)           \
	ADDQ         $64, SYMBOLS           \
	ADDQ         $64, SHIFTS            \
	ADDQ         $64, GROUPS            \
	SUBQ         $64, AX                \
	JGT          loop                   \
	VMOVQ        X16, DX                \ // where raw bits begin, less 57
	TESTQ        DX, DX                 \
	JLT          other                  \
	VEXTRACTI64X4 $1, CODES, Y1         \ // bits of codes
	VPADDQ       Y25, Y1, Y1            \
	VEXTRACTI128 $1, Y1, X2             \
	VPADDQ       X2, X1, X1             \
	VPSRLDQ      $8, X1, X2             \
	VPADDQ       X2, X1, X1             \
	VMOVQ        X1, AX                 \
	SUBQ         $41, AX                \ // where codes end, 16 more, less 57
	CMPQ         AX, DX                 \
	JGT          corrupt

#define ASIS
#define TURNED VPSHUFB SWAP, Z0, Z0

// STEP makes eight keys in Z2 but for the prefix XOR: the highest changed bit and the raw bits below it.
#define STEP \
	VPBROADCASTQ (SYMBOLS), Z0      \ // eight symbols
	VPBROADCASTQ (GROUPS), Z4       \ // where their raw bits end, less 57
	VPMOVZXBQ    (SHIFTS), Z1       \ // 63-h, one a lane
	VPANDQ       BEFORE, Z0, Z3     \ // h of the keys before each
	VPSADBW      ZERO, Z3, Z3       \ // their sum
	VPSUBQ       Z3, Z4, Z3         \ // t of each lane: the lowest bit of its field
	VPSRLQ       $3, Z3, Z4         \ // byte of the field
	KXNORB       K1, K1, K1         \
	VPXORQ       Z2, Z2, Z2         \
	VPGATHERQQ   (HALF)(Z4*1), K1, Z2 \ // v
	VPANDNQ      SEVEN, Z3, Z3      \ // ~t & 7
	VPSLLVQ      Z3, Z2, Z2         \ // raw bits to the top
	VPSHRDQ      $1, ONES, Z2, Z2   \ // a 1 above the raw bits: v>>1 | 1<<63
	VPSRLVQ      Z1, Z2, Z2           // 1<<h | raw

#define STEPUP \
	STEP                            \
	VALIGNQ      $7, ZERO, Z2, Z3   \ // prefix XOR, first with the lane below
	VPXORQ       Z3, Z2, Z2         \
	VALIGNQ      $6, ZERO, Z2, Z3   \ // with the two below
	VPXORQ       Z3, Z2, Z2         \
	VALIGNQ      $4, ZERO, Z2, Z3   \ // with the four below,
	VPTERNLOGQ   $0x96, Z3, KEY, Z2 \ // and with the last key
	VPSLLVQ      Z1, Z2, Z3           // key << (63-h): negative if it ascends

// In STEPDOWN the first key is in the last lane.
#define STEPDOWN \
	STEP                            \
	VALIGNQ      $1, Z2, ZERO, Z3   \
	VPXORQ       Z3, Z2, Z2         \
	VALIGNQ      $2, Z2, ZERO, Z3   \
	VPXORQ       Z3, Z2, Z2         \
	VALIGNQ      $4, Z2, ZERO, Z3   \
	VPTERNLOGQ   $0x96, Z3, KEY, Z2 \
	VPSLLVQ      Z1, Z2, Z3           // key << (63-h): not negative if it descends

#define NEXTGROUP \
	ADDQ $8, SYMBOLS \
	ADDQ $8, SHIFTS  \
	ADDQ $8, GROUPS

// func decodeBlockAVX512(dst *uint64, ups, downs int, block *byte, blockBytes int, before, last uint64, w *Window) int
TEXT ·decodeBlockAVX512(SB), 0, $4616-72
	MOVQ w+56(FP), WINDOW
	MOVL $~4095, HIGHER                 // for ANDN: the window's 12 bits
	MOVQ block+24(FP), UPNEXT
	MOVQ blockBytes+32(FP), AX
	SHRQ $1, AX                         // bytes of the first half, no more than the second's
	LEAQ (UPNEXT)(AX*1), DOWNNEXT

	// The rounds that the longer half takes, and the budget: a round moves five bytes at most, and the refill
	// reads eight.
	MOVQ    ups+8(FP), ROUNDS
	MOVQ    downs+16(FP), BX
	CMPQ    ROUNDS, BX
	CMOVQLT BX, ROUNDS
	ADDQ    $const_blockSpare, ROUNDS
	IMULQ   Window_pace(WINDOW), ROUNDS
	SHRQ    $16, ROUNDS
	INCQ    ROUNDS
	SUBQ    $17, AX                     // of the half: behind the beginning, 9 bytes, and before the last eight
	MOVL    $52429, BX                  // AX / 5, for AX below 2^14
	IMULQ   BX, AX
	SHRQ    $18, AX
	MOVL    $const_blockRounds, BX
	CMPQ    AX, BX
	CMOVQGT BX, AX
	SUBQ    ROUNDS, AX
	JLT     other
	MOVQ    AX, BUDGET

	LEAQ UPSYMBOLS, UPOUT
	LEAQ DOWNSYMBOLS, DOWNOUT
	BEGIN(UPBITS, UPCOUNT, UPNEXT)
	BEGIN(DOWNBITS, DOWNCOUNT, DOWNNEXT)

round:
	ROUND(UPBITS, UPCOUNT, UPNEXT, (UPNEXT), (UPOUT), UPOUT)
	ROUND(DOWNBITS, DOWNCOUNT, DOWNNEXT, (DOWNNEXT), (DOWNOUT), DOWNOUT)
	DECQ ROUNDS
	JNZ  round

	// Is that enough for both?
	LEAQ UPSYMBOLS, AX
	ADDQ ups+8(FP), AX
	CMPQ UPOUT, AX
	JLT  short
	LEAQ DOWNSYMBOLS, AX
	ADDQ downs+16(FP), AX
	CMPQ DOWNOUT, AX
	JLT  short

	VPXORQ        ZERO, ZERO, ZERO
	VPXORQ        MOST, MOST, MOST
	VPXORQ        CODES, CODES, CODES
	VPTERNLOGQ    $0xff, ONES, ONES, ONES
	VMOVDQA64     ONES, ASCEND
	VPSRLQ        $61, ONES, SEVEN      // 7
	VMOVDQA64     SEVEN, SEVENTH
	MOVL          $63, AX
	VPBROADCASTB  AX, B63
	VMOVDQU8      Window_lengths(WINDOW), LENGTHS
	VBROADCASTI32X4 ·swapBytes(SB), SWAP

	// Where raw bits end, less 57, and sums.
	MOVQ         blockBytes+32(FP), R9
	MOVQ         R9, AX
	SHRQ         $1, AX
	SUBQ         AX, R9                 // bytes of the second half
	LEAQ         -57(AX*8), AX
	VPBROADCASTQ AX, ENDS
	LEAQ         UPSYMBOLS, SYMBOLS
	LEAQ         UPSHIFTS, SHIFTS
	LEAQ         UPENDS, GROUPS
	SUMS(upsums, ASIS, ups+8(FP))
	LEAQ         -57(R9*8), AX
	VPBROADCASTQ AX, ENDS
	VPXORQ       CODES, CODES, CODES
	LEAQ         DOWNSYMBOLS, SYMBOLS
	LEAQ         DOWNSHIFTS, SHIFTS
	LEAQ         DOWNENDS, GROUPS
	SUMS(downsums, TURNED, downs+16(FP))
	MOVL         $57, AX                // is any h greater than eight bytes hold?
	VPBROADCASTB AX, Z0
	VPCMPUB      $6, Z0, MOST, K1
	KORTESTQ     K1, K1
	JNZ          other

	// The keys of the first half, eight a step: whole steps but for the last, of one to eight.
	MOVQ         dst+0(FP), DST
	ADDQ         $8, DST                // behind before
	MOVQ         block+24(FP), HALF
	VPBROADCASTQ before+40(FP), KEY
	VMOVDQU64    ·before(SB), BEFORE
	LEAQ         UPSYMBOLS, SYMBOLS
	LEAQ         UPSHIFTS, SHIFTS
	LEAQ         UPENDS, GROUPS
	MOVQ         ups+8(FP), AX
	SUBQ         $8, AX
	JLE          uplast

up:
	STEPUP
	VPANDQ    Z3, ASCEND, ASCEND        // all lanes must ascend
	VMOVDQU64 Z2, (DST)
	VPERMQ    Z2, SEVENTH, KEY
	ADDQ      $64, DST
	NEXTGROUP
	SUBQ      $8, AX
	JGT       up

uplast:
	ADDQ      $8, AX                    // keys that are left
	MOVL      $0xff, BX
	BZHIL     AX, BX, BX
	KMOVB     BX, K2
	STEPUP
	VPANDQ    Z3, ASCEND, K2, ASCEND
	VMOVDQU64 Z2, K2, (DST)

	// Those of the second, from the last down: its last eight are at DST.
	MOVQ         dst+0(FP), DST
	MOVQ         ups+8(FP), AX
	LEAQ         (DST)(AX*8), DST
	MOVQ         downs+16(FP), AX
	LEAQ         -56(DST)(AX*8), DST
	MOVQ         blockBytes+32(FP), BX
	SHRQ         $1, BX
	ADDQ         BX, HALF
	VPBROADCASTQ last+48(FP), KEY
	VALIGNQ      $1, BEFORE, ONES, BEFORE // in reversed order: what is neither a lane's nor before it
	VPXORQ       ONES, BEFORE, BEFORE
	LEAQ         DOWNSYMBOLS, SYMBOLS
	LEAQ         DOWNSHIFTS, SHIFTS
	LEAQ         DOWNENDS, GROUPS
	SUBQ         $8, AX
	JLE          downlast

down:
	STEPDOWN
	VPANDNQ      ASCEND, Z3, ASCEND     // all lanes must descend
	VMOVDQU64    Z2, (DST)
	VPBROADCASTQ X2, KEY
	SUBQ         $64, DST
	NEXTGROUP
	SUBQ         $8, AX
	JGT          down

downlast:
	NEGL      AX                        // K2 = the upper lanes, as many as keys are left: 8 and AX
	MOVL      $0xff, BX
	SHLXL     AX, BX, BX
	KMOVB     BX, K2
	STEPDOWN
	VPANDNQ   ASCEND, Z3, K2, ASCEND
	VMOVDQU64 Z2, K2, (DST)

	VPMOVQ2M ASCEND, K1                 // did the keys of all lanes?
	KMOVB    K1, AX
	XORL     BX, BX                     // decodeCorrupt
	CMPB     AX, $0xff
	SETEQ    BX                         // or decodeDone
	MOVQ     BX, ret+64(FP)
	VZEROUPPER                          // SSE code may follow
	RET

short:
	DECQ BUDGET                         // the forecast was short: one round more
	JLT  other
	MOVL $1, ROUNDS
	JMP  round

corrupt:
	MOVQ $0, ret+64(FP)                 // decodeCorrupt
	VZEROUPPER
	RET

other:
	MOVQ $2, ret+64(FP)                 // decodeOther
	VZEROUPPER
	RET
