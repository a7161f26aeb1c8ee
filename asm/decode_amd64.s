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
#define ZERO   Z20 // to clear lanes and to shift them in
#define ONES   Z21 // all ones
#define SEVEN  Z22 // 7 in every lane
#define Z63    Z23 // 63 in every lane
#define BEFORE Z24 // masks of the bytes before each lane's

// STEP makes eight keys in Z2 of the symbols whose eight bytes are in all lanes of Z0, and one in each lane of Z1.
#define STEP \
	VPANDQ     BEFORE, Z0, Z3       \ // h of the lanes before each
	VPSADBW    ZERO, Z3, Z3         \ // their sum
	VPSADBW    ZERO, Z0, Z0         \ // the sum of all eight h
	VPSUBQ     Z3, T, Z3            \ // t of each lane
	VPSUBQ     Z0, T, T             \ // T of the next step
	VPCMPQ     $5, ZERO, Z3, K1     \ // lanes whose field is in the half
	VPSRLQ     $3, Z3, Z4           \ // byte of the field
	VPXORQ     Z2, Z2, Z2           \ // 0 where it is not read
	VPGATHERQQ (HALF)(Z4*1), K1, Z2 \ // v
	VPANDNQ    SEVEN, Z3, Z3        \ // ~t & 7
	VPSLLVQ    Z3, Z2, Z2           \ // raw bits to the top
	VPSHRDQ    $1, ONES, Z2, Z2     \ // a 1 above the raw bits: v>>1 | 1<<63
	VPMAXUB    Z1, MOST, MOST       \ // the largest h so far
	VPSUBQ     Z1, Z63, Z1          \ // 63 - h: also the shift that brings bit h of a key to the top
	VPSRLVQ    Z1, Z2, Z2           \ // d = 1<<h | raw
	VALIGNQ    $7, ZERO, Z2, Z3     \ // prefix XOR, first with the lane below
	VPXORQ     Z3, Z2, Z2           \
	VALIGNQ    $6, ZERO, Z2, Z3     \ // with the two below
	VPXORQ     Z3, Z2, Z2           \
	VALIGNQ    $4, ZERO, Z2, Z3     \ // with the four below,
	VPTERNLOGQ $0x96, Z3, KEY, Z2   \ // and with the last key
	VPSLLVQ    Z1, Z2, Z3             // key << (63-h): negative if it ascends

// func decodeAVX512(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int
TEXT ·decodeAVX512(SB), 0, $344-56
	// The arguments.
	MOVQ dst+0(FP), DST
	MOVQ n+8(FP), AX                    // keys to make, counted in memory
	MOVQ AX, LEFT
	MOVL $~4095, HIGHER                 // for ANDN: the window's 12 bits
	MOVQ half+16(FP), HALF
	MOVQ halfBytes+24(FP), LAST
	MOVQ w+32(FP), WINDOW

	SUBQ         $8, LAST               // the last byte at which eight can be read
	MOVQ         c+40(FP), BX          // the cursor
	MOVQ         cursor_codeBit(BX), CODEBIT // bit of the next code
	MOVQ         cursor_rawBit(BX), AX
	SUBQ         $57, AX                // T = end of the next raw bits less the 57 of a field
	VPBROADCASTQ AX, T
	VPBROADCASTQ cursor_key(BX), KEY    // the last key

	// The constants, from all ones.
	VPXORQ       ZERO, ZERO, ZERO
	VPXORQ       MOST, MOST, MOST
	VPTERNLOGQ   $0xff, ONES, ONES, ONES
	VMOVDQA64    ONES, ASCEND
	VPSRLQ       $61, ONES, SEVEN       // 7
	VPSRLQ       $58, ONES, Z63         // 63
	VMOVDQU64    ·before(SB), BEFORE    // by lane

chunk:
	// Up to 256 symbols, and possibly some more.
	MOVQ    LEFT, AX
	MOVL    $256, WANT                  // WANT = decodeChunk, or the rest
	TESTQ   AX, AX
	JZ      check
	CMPQ    AX, WANT
	CMOVQLT AX, WANT
	SUBQ    WANT, LEFT
	STAGE1(codes, enough, surplus, given, other) // WANT symbols on the stack

	XORL POS, POS
	SUBQ $8, WANT                       // eight keys a step
	JLT  tail

eight:
	VPBROADCASTQ SYMBOLS(POS*1), Z0     // eight symbols
	VPMOVZXBQ    SYMBOLS(POS*1), Z1     // one a lane
	STEP
	VPANDQ       Z3, ASCEND, ASCEND     // all lanes must ascend
	VMOVDQU64    Z2, (DST)              // eight keys
	VPERMQ       Z2, Z63, KEY       // lane 63 mod 8 = 7
	ADDQ         $64, DST
	ADDQ         $8, POS
	CMPQ         POS, WANT
	JLE          eight

tail:
	// WANT+8-POS symbols, fewer than eight, are left.
	ADDQ         $8, WANT               // how many
	SUBQ         POS, WANT
	JZ           chunk
	MOVQ         $-1, AX                // K2 = a bit for each symbol that is left
	BZHIQ        WANT, AX, AX
	KMOVW        AX, K2
	VMOVDQU8.Z   SYMBOLS(POS*1), K2, X1 // the symbols, followed by zeros
	VPBROADCASTQ X1, Z0
	VPMOVZXBQ    X1, Z1
	STEP
	VPANDQ       Z3, ASCEND, K2, ASCEND // of the keys alone
	VMOVDQU64    Z2, K2, (DST)          // the last keys
	JMP          chunk // the last chunk: only it has a tail

check:
	// h > 57 anywhere?
	MOVL         $57, AX                // is any h greater than eight bytes hold?
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
	VPMOVQ2M     ASCEND, K1             // do the keys of all lanes ascend?
	KMOVB        K1, AX
	CMPB         AX, $0xff
	JNE          answer
	LEAQ         57(DX), R12            // R12 = where the next raw bits end; codes must end before
	CMPQ         CODEBIT, R12
	JLE          apart                  // symbols that were too many may have taken codes beyond that: give those back, and compare again
	MOVQ         FOUND, POS
	MOVQ         WANTED, WANT
	SURPLUS(again, exact)
	CMPQ         CODEBIT, R12
	JGT          answer

apart:
	MOVL         $1, BX                 // decodeDone

	// Position of the next call. The last lane of a tail is no key: there is no next call.
	MOVQ         c+40(FP), AX
	MOVQ         CODEBIT, cursor_codeBit(AX)
	MOVQ         R12, cursor_rawBit(AX)
	VMOVQ        X17, cursor_key(AX)

answer:
	MOVQ BX, ret+48(FP)                 // 0, decodeCorrupt, or 1
	VZEROUPPER                          // SSE code may follow
	RET

other:
	MOVQ $2, ret+48(FP)                 // decodeOther
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

#define T      Y4  // see above, the same in all lanes
#define KEY    Y5  // the last key, in all lanes
#define ASCEND Y6  // AND of key << (63-h)
#define MOST   Y7  // largest h of each lane
#define ZERO   Y8  // to clear lanes and to shift them in
#define ONES   Y9  // all ones
#define SEVEN  Y10 // 7 in every lane
#define Y63    Y11 // 63 in every lane
#define BEFORE Y12 // masks of the bytes before each lane's
#define FIRST4 Y13 // the low four bytes of every lane
#define SIGN   Y14 // 1<<63 in every lane

// STEP makes four keys in Y2 of the symbols whose four bytes are in every 32 bits of Y0, and one in each lane of Y1.
#define STEP \
	VPAND      BEFORE, Y0, Y3        \ // h of the lanes before each
	VPSADBW    ZERO, Y3, Y3          \ // their sum
	VPAND      FIRST4, Y0, Y0        \ // the four h
	VPSADBW    ZERO, Y0, Y0          \ // their sum
	VPSUBQ     Y3, T, Y3             \ // t of each lane
	VPSUBQ     Y0, T, T              \ // T of the next step
	VPXOR      ONES, Y3, Y15         \ // ~t: negative where the field is in the half
	VPSRLQ     $3, Y3, Y0            \ // byte of the field
	VPXOR      Y2, Y2, Y2            \ // 0 where it is not read
	VPAND      SEVEN, Y15, Y3        \ // ~t & 7
	VPGATHERQQ Y15, (HALF)(Y0*1), Y2 \ // v
	VPSLLVQ    Y3, Y2, Y2            \ // raw bits to the top
	VPSRLQ     $1, Y2, Y2            \ // a 1 above the raw bits: v>>1 | 1<<63
	VPOR       SIGN, Y2, Y2          \
	VPMAXUB    Y1, MOST, MOST        \ // the largest h so far
	VPSUBQ     Y1, Y63, Y1           \ // 63 - h: also the shift that brings bit h of a key to the top
	VPSRLVQ    Y1, Y2, Y2            \ // d = 1<<h | raw
	VPSLLDQ    $8, Y2, Y3            \ // prefix XOR, first with the lane below
	VPXOR      Y3, Y2, Y2            \
	VPERMQ     $0x55, Y2, Y3         \ // the second lane's, for the upper two
	VPBLENDD   $0x0f, ZERO, Y3, Y3   \
	VPXOR      KEY, Y2, Y2           \ // the last key before
	VPXOR      Y3, Y2, Y2            \
	VPSLLVQ    Y1, Y2, Y3              // key << (63-h): negative if it ascends

// func decodeAVX2(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int
TEXT ·decodeAVX2(SB), 0, $344-56
	// The arguments.
	MOVQ dst+0(FP), DST
	MOVQ n+8(FP), AX                    // keys to make, counted in memory
	MOVQ AX, LEFT
	MOVL $~4095, HIGHER                 // for ANDN: the window's 12 bits
	MOVQ half+16(FP), HALF
	MOVQ halfBytes+24(FP), LAST
	MOVQ w+32(FP), WINDOW

	SUBQ         $8, LAST               // the last byte at which eight can be read
	MOVQ         c+40(FP), BX          // the cursor
	MOVQ         cursor_codeBit(BX), CODEBIT // bit of the next code
	MOVQ         cursor_rawBit(BX), AX
	SUBQ         $57, AX                // T = end of the next raw bits less the 57 of a field
	VMOVQ        AX, X4
	VPBROADCASTQ X4, T
	VPBROADCASTQ cursor_key(BX), KEY    // the last key

	// The constants, from all ones.
	VPXOR        ZERO, ZERO, ZERO
	VPXOR        MOST, MOST, MOST
	VPCMPEQQ     ONES, ONES, ONES
	VMOVDQA      ONES, ASCEND
	VPSRLQ       $61, ONES, SEVEN       // 7
	VPSRLQ       $58, ONES, Y63         // 63
	VPSRLQ       $32, ONES, FIRST4      // the low 32 bits
	VPSLLQ       $63, ONES, SIGN        // the top bit
	VMOVDQU      ·before(SB), BEFORE    // by lane

chunk:
	// Up to 256 symbols, and possibly some more.
	MOVQ    LEFT, AX
	MOVL    $256, WANT                  // WANT = decodeChunk, or the rest
	TESTQ   AX, AX
	JZ      check
	CMPQ    AX, WANT
	CMOVQLT AX, WANT
	SUBQ    WANT, LEFT
	STAGE1(codes, enough, surplus, given, other) // WANT symbols on the stack

	XORL POS, POS
	SUBQ $4, WANT                       // four keys a step
	JLT  tail

four:
	VPBROADCASTD SYMBOLS(POS*1), Y0     // four symbols
	VPMOVZXBQ    SYMBOLS(POS*1), Y1     // one a lane
	STEP
	VPAND        Y3, ASCEND, ASCEND     // all lanes must ascend
	VMOVDQU      Y2, (DST)              // four keys
	VPERMQ       $0xff, Y2, KEY         // lane 3
	ADDQ         $32, DST
	ADDQ         $4, POS
	CMPQ         POS, WANT
	JLE          four

tail:
	// WANT+4-POS symbols, fewer than four, are left: the others become 0.
	ADDQ         $4, WANT               // how many
	SUBQ         POS, WANT
	JZ           chunk
	MOVL         SYMBOLS(POS*1), AX     // the symbols that are left, followed by zeros
	SHLL         $3, WANT
	BZHIL        WANT, AX, AX
	VMOVD        AX, X1
	VPBROADCASTD X1, Y0
	VPMOVZXBQ    X1, Y1
	STEP

last:
	// One key at a time.
	VMOVQ  X3, AX                       // of lane 0: key << (63-h)
	VMOVQ  X2, (DST)                    // of lane 0: the key
	ADDQ   $8, DST
	VMOVQ  AX, X0                       // in all lanes: must it ascend?
	VPBROADCASTQ X0, Y0
	VPAND  Y0, ASCEND, ASCEND
	VPERMQ $0x39, Y2, Y2                // the next lane becomes lane 0
	VPERMQ $0x39, Y3, Y3
	SUBQ   $8, WANT
	JNZ    last
	JMP    chunk // the last chunk: only it has a tail

check:
	// h > 57 anywhere?
	MOVL         $57, AX                // is any h greater than eight bytes hold?
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
	VMOVMSKPD    ASCEND, AX             // do the keys of all lanes ascend?
	CMPL         AX, $0xf
	JNE          answer
	LEAQ         57(DX), R12            // R12 = where the next raw bits end; codes must end before
	CMPQ         CODEBIT, R12
	JLE          apart
	MOVQ         FOUND, POS             // symbols that were too many may have taken codes beyond that: give those back, and compare again
	MOVQ         WANTED, WANT
	SURPLUS(again, exact)
	CMPQ         CODEBIT, R12
	JGT          answer

apart:
	MOVL         $1, BX                 // decodeDone

	// Position of the next call. The last lane of a tail is no key: there is no next call.
	MOVQ         c+40(FP), AX
	MOVQ         CODEBIT, cursor_codeBit(AX)
	MOVQ         R12, cursor_rawBit(AX)
	VMOVQ        X5, cursor_key(AX)

answer:
	MOVQ BX, ret+48(FP)                 // 0, decodeCorrupt, or 1
	VZEROUPPER                          // SSE code may follow
	RET

other:
	MOVQ $2, ret+48(FP)                 // decodeOther
	VZEROUPPER
	RET
