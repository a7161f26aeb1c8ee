//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Both kernels collect each key in the cache line of its digit, and write a line that
// is full past the caches. They differ in how wide a store is. A line of which the
// first keys lie before the bucket, that is before from[digit], is written key by key.
//
// Places count from the cache line that dst[0] lies in: DST is skew keys before it.

#define KEY    AX
#define DIGIT  DX
#define AT     R9
#define SLOT   R10
#define SRC    SI
#define END    DI
#define LOW    R8
#define SHIFT  CX
#define DIGITS BX
#define NEXT   R11
#define FROM   R12
#define LINES  R13
#define DST    R14
#define LIMIT  R15

#define LOAD \
	MOVQ b+0(FP), AX                 \
	MOVQ keys_base+8(FP), SRC        \
	MOVQ keys_len+16(FP), END        \
	LEAQ (SRC)(END*8), END           \
	MOVQ limit+32(FP), LIMIT         \
	MOVQ Buckets_Low(AX), LOW        \
	MOVQ Buckets_Shift(AX), SHIFT    \
	MOVQ (Buckets_Next+8)(AX), DIGITS \
	MOVQ Buckets_Next(AX), NEXT      \
	MOVQ Buckets_First(AX), FROM      \
	MOVQ Buckets_Lines(AX), LINES    \
	MOVQ Buckets_Dst(AX), DST        \
	MOVQ Buckets_Skew(AX), DX        \
	SHLQ $3, DX                      \
	SUBQ DX, DST

// COLLECT puts the key at SRC into its line, and goes on if that is not full.
#define COLLECT(more, none) \
	MOVQ  (SRC), KEY               \
	MOVQ  KEY, DIGIT               \
	SUBQ  LOW, DIGIT               \
	SHRXQ SHIFT, DIGIT, DIGIT      \
	CMPQ  DIGIT, DIGITS            \
	JAE   none                     \
	MOVQ  (NEXT)(DIGIT*8), AT      \
	MOVQ  AT, SLOT                 \
	ANDQ  $7, SLOT                 \
	LEAQ  (SLOT)(DIGIT*8), SLOT    \
	MOVQ  KEY, (LINES)(SLOT*8)     \
	INCQ  AT                       \
	MOVQ  AT, (NEXT)(DIGIT*8)      \
	TESTQ $7, AT                   \
	JNZ   more

// PARTIAL writes the keys of a full line from place from[digit] on, SLOT being the
// line's first place and DIGIT eight times the digit.
#define PARTIAL(loop, more) \
	SHRQ $3, DIGIT                 \
	MOVQ (FROM)(DIGIT*8), SLOT     \
	SHLQ $3, DIGIT                 \
loop:                              \
	MOVQ SLOT, KEY                 \
	ANDQ $7, KEY                   \
	ADDQ DIGIT, KEY                \
	MOVQ (LINES)(KEY*8), KEY       \
	MOVQ KEY, (DST)(SLOT*8)        \
	INCQ SLOT                      \
	CMPQ SLOT, AT                  \
	JB   loop                      \
	JMP  more

#define RETURN \
	SUBQ keys_base+8(FP), SRC      \
	SHRQ $3, SRC                   \
	MOVQ SRC, done+40(FP)

// func scatterAVX512(b *Buckets, keys []uint64, limit uint64) (done int)
TEXT ·scatterAVX512(SB), NOSPLIT, $0-48
	LOAD
	CMPQ SRC, END
	JAE  done

key:
	COLLECT(more, done)

	CMPQ  AT, LIMIT
	JA    done
	LEAQ  -8(AT), SLOT
	CMPQ  SLOT, (FROM)(DIGIT*8)
	LEAQ  (DIGIT*8), DIGIT
	JB    partial
	VMOVDQU64 (LINES)(DIGIT*8), Z0
	VMOVNTDQ  Z0, (DST)(SLOT*8)

more:
	ADDQ $8, SRC
	CMPQ SRC, END
	JB   key

done:
	RETURN
	VZEROUPPER
	RET

partial:
	PARTIAL(one, more)

// func scatterAVX2(b *Buckets, keys []uint64, limit uint64) (done int)
TEXT ·scatterAVX2(SB), NOSPLIT, $0-48
	LOAD
	CMPQ SRC, END
	JAE  done

key:
	COLLECT(more, done)

	CMPQ  AT, LIMIT
	JA    done
	LEAQ  -8(AT), SLOT
	CMPQ  SLOT, (FROM)(DIGIT*8)
	LEAQ  (DIGIT*8), DIGIT
	JB    partial
	VMOVDQU  (LINES)(DIGIT*8), Y0
	VMOVDQU  32(LINES)(DIGIT*8), Y1
	VMOVNTDQ Y0, (DST)(SLOT*8)
	VMOVNTDQ Y1, 32(DST)(SLOT*8)

more:
	ADDQ $8, SRC
	CMPQ SRC, END
	JB   key

done:
	RETURN
	VZEROUPPER
	RET

partial:
	PARTIAL(one, more)

// func scatterFence()
TEXT ·scatterFence(SB), NOSPLIT, $0-0
	SFENCE
	RET
