//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "decode_amd64.h"

// Stage 2: symbols to keys, lanes at a time. For lane j of a step:
//
//	t[j]  = T - (h[0] + ... + h[j-1])      T = 8*halfBytes - 57 - (all h before this step)
//	        the lowest bit of a 57-bit field that ends where raw[j] ends
//	v     = 8 bytes at t>>3                ends with the byte in which raw[j] ends
//	v   <<= ~t & 7                         raw[j]'s top bit is the top bit of v
//	d     = (v>>1 | 1<<63) >> (63-h)       1<<h | raw[j], if h <= 57
//	key   = d[0] ^ ... ^ d[j] ^ last key   prefix XOR in log2(lanes) shifts
//
// The sum of the h before a lane is one VPSADBW over the step's bytes, those from j up masked
// off. t is signed; a lane with t < 0 is not read: its field begins before the half, which the last test
// leaves to the generic form. Where t >= 0, t>>3 .. t>>3+7 is inside.
//
// Keys ascend when bit h of every key is 1: key << (63-h) is negative.

DATA ·before+0(SB)/8, $0x0000000000000000
DATA ·before+8(SB)/8, $0x00000000000000ff
DATA ·before+16(SB)/8, $0x000000000000ffff
DATA ·before+24(SB)/8, $0x0000000000ffffff
DATA ·before+32(SB)/8, $0x00000000ffffffff
DATA ·before+40(SB)/8, $0x000000ffffffffff
DATA ·before+48(SB)/8, $0x0000ffffffffffff
DATA ·before+56(SB)/8, $0x00ffffffffffffff
GLOBL ·before(SB), RODATA|NOPTR, $64

#define T      Z16 // see above, the same in all lanes
#define KEY    Z17 // the last key, in all lanes
#define ASCEND Z18 // AND of key << (63-h)
#define MOST   Z19 // largest h of each lane
#define ZERO   Z20
#define ONES   Z21
#define SEVEN  Z22
#define Z63    Z23
#define BEFORE Z24

// STEP makes eight keys in Z2 of the symbols whose eight bytes are in all lanes of Z0, and one in each lane of Z1.
#define STEP \
	VPANDQ     BEFORE, Z0, Z3       \
	VPSADBW    ZERO, Z3, Z3         \
	VPSADBW    ZERO, Z0, Z0         \
	VPSUBQ     Z3, T, Z3            \
	VPSUBQ     Z0, T, T             \
	VPCMPQ     $5, ZERO, Z3, K1     \
	VPSRLQ     $3, Z3, Z4           \
	VPXORQ     Z2, Z2, Z2           \
	VPGATHERQQ (HALF)(Z4*1), K1, Z2 \
	VPANDNQ    SEVEN, Z3, Z3        \
	VPSLLVQ    Z3, Z2, Z2           \
	VPSHRDQ    $1, ONES, Z2, Z2     \
	VPMAXUB    Z1, MOST, MOST       \
	VPSUBQ     Z1, Z63, Z1          \
	VPSRLVQ    Z1, Z2, Z2           \
	VALIGNQ    $7, ZERO, Z2, Z3     \
	VPXORQ     Z3, Z2, Z2           \
	VALIGNQ    $6, ZERO, Z2, Z3     \
	VPXORQ     Z3, Z2, Z2           \
	VALIGNQ    $4, ZERO, Z2, Z3     \
	VPTERNLOGQ $0x96, Z3, KEY, Z2   \
	VPSLLVQ    Z1, Z2, Z3

// func decodeAVX512(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int
TEXT ·decodeAVX512(SB), 0, $344-56
	MOVQ dst+0(FP), DST
	MOVQ n+8(FP), AX
	MOVQ AX, LEFT
	MOVL $~4095, HIGHER
	MOVQ half+16(FP), HALF
	MOVQ halfBytes+24(FP), LAST
	MOVQ w+32(FP), WINDOW

	SUBQ         $8, LAST
	MOVQ         at+40(FP), BX
	MOVQ         cursor_codeBit(BX), CODEBIT
	MOVQ         cursor_rawBit(BX), AX
	SUBQ         $57, AX
	VPBROADCASTQ AX, T
	VPBROADCASTQ cursor_key(BX), KEY

	VPXORQ       ZERO, ZERO, ZERO
	VPXORQ       MOST, MOST, MOST
	VPTERNLOGQ   $0xff, ONES, ONES, ONES
	VMOVDQA64    ONES, ASCEND
	VPSRLQ       $61, ONES, SEVEN
	VPSRLQ       $58, ONES, Z63
	VMOVDQU64    ·before(SB), BEFORE

chunk:
	MOVQ    LEFT, AX
	MOVL    $256, WANT
	TESTQ   AX, AX
	JZ      check
	CMPQ    AX, WANT
	CMOVQLT AX, WANT
	SUBQ    WANT, LEFT
	STAGE1(codes, enough, surplus, given, other)

	XORL POS, POS
	SUBQ $8, WANT
	JLT  tail

eight:
	VPBROADCASTQ SYMBOLS(POS*1), Z0
	VPMOVZXBQ    SYMBOLS(POS*1), Z1
	STEP
	VPANDQ       Z3, ASCEND, ASCEND
	VMOVDQU64    Z2, (DST)
	VPERMQ       Z2, Z63, KEY       // lane 63 mod 8 = 7
	ADDQ         $64, DST
	ADDQ         $8, POS
	CMPQ         POS, WANT
	JLE          eight

tail:
	// WANT+8-POS symbols, fewer than eight, are left.
	ADDQ         $8, WANT
	SUBQ         POS, WANT
	JZ           chunk
	MOVQ         $-1, AX
	BZHIQ        WANT, AX, AX
	KMOVW        AX, K2
	VMOVDQU8.Z   SYMBOLS(POS*1), K2, X1
	VPBROADCASTQ X1, Z0
	VPMOVZXBQ    X1, Z1
	STEP
	VPANDQ       Z3, ASCEND, K2, ASCEND
	VMOVDQU64    Z2, K2, (DST)
	JMP          chunk // the last chunk: only it has a tail

check:
	// h > 57 anywhere?
	MOVL         $57, AX
	VPBROADCASTQ AX, Z0
	VPCMPUQ      $6, Z0, MOST, K1
	KORTESTB     K1, K1
	JNZ          other

	// Were any read before the half's first eight bytes?
	VMOVQ        X16, DX
	TESTQ        DX, DX
	JLT          other

	// All keys ascend, and codes end before raw bits begin.
	XORL         BX, BX
	VPMOVQ2M     ASCEND, K1
	KMOVB        K1, AX
	CMPB         AX, $0xff
	JNE          answer
	LEAQ         57(DX), R12
	CMPQ         CODEBIT, R12
	JLE          apart
	MOVQ         FOUND, POS
	MOVQ         WANTED, WANT
	SURPLUS(again, exact)
	CMPQ         CODEBIT, R12
	JGT          answer

apart:
	MOVL         $1, BX

	// Where the next call goes on. The last lane of a tail is no key: there is no next call.
	MOVQ         at+40(FP), AX
	MOVQ         CODEBIT, cursor_codeBit(AX)
	MOVQ         R12, cursor_rawBit(AX)
	VMOVQ        X17, cursor_key(AX)

answer:
	MOVQ BX, ret+48(FP)
	VZEROUPPER
	RET

other:
	MOVQ $2, ret+48(FP)
	VZEROUPPER
	RET

#undef T
#undef KEY
#undef ASCEND
#undef MOST
#undef ZERO
#undef ONES
#undef SEVEN
#undef Z63
#undef BEFORE
#undef STEP

#define T      Y4
#define KEY    Y5
#define ASCEND Y6
#define MOST   Y7
#define ZERO   Y8
#define ONES   Y9
#define SEVEN  Y10
#define Y63    Y11
#define BEFORE Y12
#define FIRST4 Y13 // the low four bytes of every lane
#define SIGN   Y14

// STEP makes four keys in Y2 of the symbols whose four bytes are in every 32 bits of Y0, and one in each lane of Y1.
#define STEP \
	VPAND      BEFORE, Y0, Y3       \
	VPSADBW    ZERO, Y3, Y3         \
	VPAND      FIRST4, Y0, Y0       \
	VPSADBW    ZERO, Y0, Y0         \
	VPSUBQ     Y3, T, Y3            \
	VPSUBQ     Y0, T, T             \
	VPXOR      ONES, Y3, Y15        \
	VPSRLQ     $3, Y3, Y0           \
	VPXOR      Y2, Y2, Y2           \
	VPAND      SEVEN, Y15, Y3       \
	VPGATHERQQ Y15, (HALF)(Y0*1), Y2 \
	VPSLLVQ    Y3, Y2, Y2           \
	VPSRLQ     $1, Y2, Y2           \
	VPOR       SIGN, Y2, Y2         \
	VPMAXUB    Y1, MOST, MOST       \
	VPSUBQ     Y1, Y63, Y1          \
	VPSRLVQ    Y1, Y2, Y2           \
	VPSLLDQ    $8, Y2, Y3           \
	VPXOR      Y3, Y2, Y2           \
	VPERMQ     $0x55, Y2, Y3        \
	VPBLENDD   $0x0f, ZERO, Y3, Y3  \
	VPXOR      KEY, Y2, Y2          \
	VPXOR      Y3, Y2, Y2           \
	VPSLLVQ    Y1, Y2, Y3

// func decodeAVX2(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int
TEXT ·decodeAVX2(SB), 0, $344-56
	MOVQ dst+0(FP), DST
	MOVQ n+8(FP), AX
	MOVQ AX, LEFT
	MOVL $~4095, HIGHER
	MOVQ half+16(FP), HALF
	MOVQ halfBytes+24(FP), LAST
	MOVQ w+32(FP), WINDOW

	SUBQ         $8, LAST
	MOVQ         at+40(FP), BX
	MOVQ         cursor_codeBit(BX), CODEBIT
	MOVQ         cursor_rawBit(BX), AX
	SUBQ         $57, AX
	VMOVQ        AX, X4
	VPBROADCASTQ X4, T
	VPBROADCASTQ cursor_key(BX), KEY

	VPXOR        ZERO, ZERO, ZERO
	VPXOR        MOST, MOST, MOST
	VPCMPEQQ     ONES, ONES, ONES
	VMOVDQA      ONES, ASCEND
	VPSRLQ       $61, ONES, SEVEN
	VPSRLQ       $58, ONES, Y63
	VPSRLQ       $32, ONES, FIRST4
	VPSLLQ       $63, ONES, SIGN
	VMOVDQU      ·before(SB), BEFORE

chunk:
	MOVQ    LEFT, AX
	MOVL    $256, WANT
	TESTQ   AX, AX
	JZ      check
	CMPQ    AX, WANT
	CMOVQLT AX, WANT
	SUBQ    WANT, LEFT
	STAGE1(codes, enough, surplus, given, other)

	XORL POS, POS
	SUBQ $4, WANT
	JLT  tail

four:
	VPBROADCASTD SYMBOLS(POS*1), Y0
	VPMOVZXBQ    SYMBOLS(POS*1), Y1
	STEP
	VPAND        Y3, ASCEND, ASCEND
	VMOVDQU      Y2, (DST)
	VPERMQ       $0xff, Y2, KEY
	ADDQ         $32, DST
	ADDQ         $4, POS
	CMPQ         POS, WANT
	JLE          four

tail:
	// WANT+4-POS symbols, fewer than four, are left: the others become 0.
	ADDQ         $4, WANT
	SUBQ         POS, WANT
	JZ           chunk
	MOVL         SYMBOLS(POS*1), AX
	SHLL         $3, WANT
	BZHIL        WANT, AX, AX
	VMOVD        AX, X1
	VPBROADCASTD X1, Y0
	VPMOVZXBQ    X1, Y1
	STEP

last:
	// One key at a time.
	VMOVQ  X3, AX
	VMOVQ  X2, (DST)
	ADDQ   $8, DST
	VMOVQ  AX, X0
	VPBROADCASTQ X0, Y0
	VPAND  Y0, ASCEND, ASCEND
	VPERMQ $0x39, Y2, Y2
	VPERMQ $0x39, Y3, Y3
	SUBQ   $8, WANT
	JNZ    last
	JMP    chunk // the last chunk: only it has a tail

check:
	// h > 57 anywhere?
	MOVL         $57, AX
	VMOVQ        AX, X0
	VPBROADCASTQ X0, Y0
	VPCMPGTQ     Y0, MOST, Y0
	VPTEST       Y0, Y0
	JNZ          other

	// Were any read before the half's first eight bytes?
	VMOVQ        X4, DX
	TESTQ        DX, DX
	JLT          other

	// All keys ascend, and codes end before raw bits begin.
	XORL         BX, BX
	VMOVMSKPD    ASCEND, AX
	CMPL         AX, $0xf
	JNE          answer
	LEAQ         57(DX), R12
	CMPQ         CODEBIT, R12
	JLE          apart
	MOVQ         FOUND, POS
	MOVQ         WANTED, WANT
	SURPLUS(again, exact)
	CMPQ         CODEBIT, R12
	JGT          answer

apart:
	MOVL         $1, BX

	// Where the next call goes on. The last lane of a tail is no key: there is no next call.
	MOVQ         at+40(FP), AX
	MOVQ         CODEBIT, cursor_codeBit(AX)
	MOVQ         R12, cursor_rawBit(AX)
	VMOVQ        X5, cursor_key(AX)

answer:
	MOVQ BX, ret+48(FP)
	VZEROUPPER
	RET

other:
	MOVQ $2, ret+48(FP)
	VZEROUPPER
	RET
