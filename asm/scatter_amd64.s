//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Both kernels collect each key in the cache line of its digit, and write a line that
// is full past the caches. They differ in how wide a store is. A line of which the
// first keys lie before the bucket, that is before from[digit], is written key by key.
//
// Places count from the cache line that dst[0] is in: DST is skew keys before it.

#define KEY    AX  // this key
#define DIGIT  DX  // its digit, then eight times that
#define AT     R9  // place of its next key
#define SLOT   R10 // a place in LINES, then in DST
#define SRC    SI  // this key's address
#define END    DI  // one past the last key
#define LOW    R8  // the lowest key that has a bucket
#define SHIFT  CX  // of a key, to its digit
#define DIGITS BX  // how many digits there are
#define NEXT   R11 // by digit: place of the next key
#define FROM   R12 // by digit: place of the first key
#define LINES  R13 // by digit: the line that is being filled
#define DST    R14 // place 0 of the buckets
#define LIMIT  R15 // one past the last place

#define LOAD \
	MOVQ b+0(FP), AX                  \ // the buckets
	MOVQ keys_base+8(FP), SRC         \ // keys[0]
	MOVQ keys_len+16(FP), END         \ // len(keys)
	LEAQ (SRC)(END*8), END            \ // one past the last key
	MOVQ limit+32(FP), LIMIT          \ // the end of Dst, in places
	MOVQ Buckets_Low(AX), LOW         \ // what a digit is made of
	MOVQ Buckets_Shift(AX), SHIFT     \
	MOVQ (Buckets_Next+8)(AX), DIGITS \ // how many digits there are
	MOVQ Buckets_Next(AX), NEXT       \ // by digit
	MOVQ Buckets_First(AX), FROM      \ // by digit
	MOVQ Buckets_Lines(AX), LINES     \ // by digit
	MOVQ Buckets_Dst(AX), DST         \ // dst[0]
	MOVQ Buckets_Skew(AX), DX         \ // DST = the line that dst[0] is in, where places begin
	SHLQ $3, DX                       \
	SUBQ DX, DST

// COLLECT puts the key at SRC into its line, and continues if that is not full.
#define COLLECT(more, none) \
	MOVQ  (SRC), KEY            \ // the key
	MOVQ  KEY, DIGIT            \ // digit = (key - low) >> shift; a key below low wraps around to no digit
	SUBQ  LOW, DIGIT            \
	SHRXQ SHIFT, DIGIT, DIGIT   \
	CMPQ  DIGIT, DIGITS         \ // is there such a bucket?
	JAE   none                  \ // no: the caller panics
	MOVQ  (NEXT)(DIGIT*8), AT   \ // its place
	MOVQ  AT, SLOT              \ // place in the line, 0 to 7
	ANDQ  $7, SLOT              \ // 8*digit + place: where the key waits in LINES
	LEAQ  (SLOT)(DIGIT*8), SLOT \
	MOVQ  KEY, (LINES)(SLOT*8)  \
	INCQ  AT                    \ // the digit's next place
	MOVQ  AT, (NEXT)(DIGIT*8)   \
	TESTQ $7, AT                \ // did it fill the line?
	JNZ   more                    // no: the next key

// PARTIAL writes the keys of a full line from place from[digit] on, SLOT being the
// line's first place and DIGIT eight times the digit.
#define PARTIAL(loop, more) \
	SHRQ $3, DIGIT             \ // SLOT = First[digit], and DIGIT as it was
	MOVQ (FROM)(DIGIT*8), SLOT \
	SHLQ $3, DIGIT             \
loop:                          \
	MOVQ SLOT, KEY             \ // the key in place SLOT of the line
	ANDQ $7, KEY               \
	ADDQ DIGIT, KEY            \
	MOVQ (LINES)(KEY*8), KEY   \
	MOVQ KEY, (DST)(SLOT*8)    \ // to its place
	INCQ SLOT                  \ // the next one
	CMPQ SLOT, AT              \ // the end of the line?
	JB   loop                  \
	JMP  more

#define RETURN \
	SUBQ keys_base+8(FP), SRC \ // done = keys that are done, of eight bytes
	SHRQ $3, SRC              \
	MOVQ SRC, done+40(FP)

// func scatterAVX512(b *Buckets, keys []uint64, limit uint64) (done int)
TEXT ·scatterAVX512(SB), NOSPLIT, $0-48
	LOAD
	CMPQ SRC, END
	JAE  done

	// This key into its line.
key:
	COLLECT(more, done)

	// Its line is full. It ends at place AT, which must not be past the end.
	CMPQ  AT, LIMIT
	JA    done
	LEAQ  -8(AT), SLOT                  // the line's first place
	CMPQ  SLOT, (FROM)(DIGIT*8)         // does the bucket begin after it?
	LEAQ  (DIGIT*8), DIGIT              // eight times the digit: flags stay
	JB    partial                       // yes: key by key
	VMOVDQU64 (LINES)(DIGIT*8), Z0      // the line, whole,
	VMOVNTDQ  Z0, (DST)(SLOT*8)         // past the caches to its place

more:
	ADDQ $8, SRC                        // the next key
	CMPQ SRC, END
	JB   key

done:
	RETURN
	VZEROUPPER                          // SSE code may follow
	RET

partial:
	PARTIAL(one, more)

// func scatterAVX2(b *Buckets, keys []uint64, limit uint64) (done int)
TEXT ·scatterAVX2(SB), NOSPLIT, $0-48
	LOAD
	CMPQ SRC, END
	JAE  done

	// This key into its line.
key:
	COLLECT(more, done)

	// Its line is full. It ends at place AT, which must not be past the end.
	CMPQ  AT, LIMIT
	JA    done
	LEAQ  -8(AT), SLOT                  // the line's first place
	CMPQ  SLOT, (FROM)(DIGIT*8)         // does the bucket begin after it?
	LEAQ  (DIGIT*8), DIGIT              // eight times the digit: flags stay
	JB    partial                       // yes: key by key
	VMOVDQU  (LINES)(DIGIT*8), Y0       // the line, in two halves
	VMOVDQU  32(LINES)(DIGIT*8), Y1
	VMOVNTDQ Y0, (DST)(SLOT*8)          // past the caches to its place
	VMOVNTDQ Y1, 32(DST)(SLOT*8)

more:
	ADDQ $8, SRC                        // the next key
	CMPQ SRC, END
	JB   key

done:
	RETURN
	VZEROUPPER                          // SSE code may follow
	RET

partial:
	PARTIAL(one, more)

// func scatterFence()
TEXT ·scatterFence(SB), NOSPLIT, $0-0
	SFENCE                              // stores past the caches come before what follows
	RET
