//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "mula_avx2_amd64.h"

// within32AVX2 looks at up to 32 elements a block with four loads of 8, which
// overlap as the length of the block will have it, so that no byte outside the run
// is read and no branch depends on the length:
//
//	low[0:8]   low[8:16]   low[16:24]   low[n-8:n]      n = 32
//	low[0:8]   low[8:16]   low[n-8:n]   low[n-8:n]      16 <= n <= 24
//	low[0:8]   low[n-8:n]  low[n-8:n]   low[n-8:n]      8 <= n <= 16
//
// The least of the four counts in each lane is compared with the limit at once. A
// block with a hit is looked at again, one element at a time, and so are blocks of
// fewer than 8.

#define LOW     BX  // start of the big array
#define SIZE    R8  // its elements
#define RUN     R10 // *Span of this run
#define STRIDE  R13 // bytes to the next
#define QUERY   R12 // *uint32, this run's query
#define STEP    R15 // bytes to the next
#define LEFT    CX  // runs to go, this one included
#define DST     DI  // where the next hit goes
#define PTR     AX  // first element of this run
#define LEN     R14 // its elements
#define OFF     SI  // elements of it that are done: 0 at label run
#define BLOCK   DX  // elements of this block
#define T0      R9
#define T1      R11

#define VQ      Y0
#define VLIM    Y1
#define BYTES   Y13 // 1 in every byte
#define WORDS   Y12 // 1 in every 16 bits

// The counts of the 8 elements of y.
#define DISTANCES(y, t) \
	COUNT_BYTES(y, t)       \
	VPMADDUBSW BYTES, y, y  \
	VPMADDWD   WORDS, y, y

// func within32AVX2(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64)
TEXT ·within32AVX2(SB), NOSPLIT, $0-112
	MOVQ dst_base+0(FP), DST
	MOVQ low_base+24(FP), LOW
	MOVQ low_len+32(FP), SIZE
	MOVQ runs+48(FP), RUN
	MOVQ stride+56(FP), STRIDE
	MOVQ count+64(FP), LEFT
	XORL OFF, OFF
	TESTQ LEFT, LEFT
	JZ   done
	// One query for all, which stays where it is, or one in each run.
	LEAQ q+84(FP), QUERY
	XORL STEP, STEP
	LEAQ Run_Query(RUN), T0
	CMPQ STRIDE, $Span__size
	CMOVQNE T0, QUERY
	CMOVQNE STRIDE, STEP
	LOAD_TABLE(T0, X2)
	VPCMPEQD Y2, Y2, Y2
	VPABSB Y2, BYTES
	VPABSW Y2, WORDS

	PCALIGN $32
run:
	// start <= size && length <= size-start && length <= longest
	MOVQ Span_Start(RUN), T0
	MOVL Span_Len(RUN), LEN
	MOVQ SIZE, T1
	SUBQ T0, T1
	JCS  done
	CMPQ LEN, T1
	JHI  done
	CMPQ LEN, longest+72(FP)
	JHI  done
	LEAQ (LOW)(T0*4), PTR
	VPBROADCASTD (QUERY), VQ
	VPBROADCASTD Span_Limit(RUN), VLIM

block:
	MOVQ LEN, BLOCK
	SUBQ OFF, BLOCK
	CMPQ BLOCK, $8
	JCS  few
	MOVL $32, T0
	CMPQ BLOCK, T0
	CMOVQHI T0, BLOCK
	VPXOR (PTR)(OFF*4), VQ, Y4
	LEAQ (PTR)(OFF*4), T0
	LEAQ -32(T0)(BLOCK*4), T1    // the last 8
	VPXOR (T1), VQ, Y7
	ADDQ $32, T0
	CMPQ T0, T1
	CMOVQHI T1, T0
	VPXOR (T0), VQ, Y5
	ADDQ $32, T0
	CMPQ T0, T1
	CMOVQHI T1, T0
	VPXOR (T0), VQ, Y6
	DISTANCES(Y4, Y8)
	DISTANCES(Y5, Y9)
	DISTANCES(Y6, Y10)
	DISTANCES(Y7, Y11)
	VPMINUD Y4, Y5, Y5
	VPMINUD Y6, Y7, Y7
	VPMINUD Y5, Y7, Y7
	VPMINUD VLIM, Y7, Y6
	VPCMPEQD Y6, Y7, Y7          // least <= limit
	VPTEST Y7, Y7
	JNZ  again
	ADDQ BLOCK, OFF
	CMPQ OFF, LEN
	JCS  block

next:
	XORL OFF, OFF
	ADDQ STRIDE, RUN
	ADDQ STEP, QUERY
	DECQ LEFT
	JNZ  run

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $4, DST
	MOVQ DST, hits+88(FP)
	MOVQ count+64(FP), T0
	SUBQ LEFT, T0
	MOVQ T0, done+96(FP)
	MOVQ OFF, offset+104(FP)
	VZEROUPPER
	RET

few:
	TESTQ BLOCK, BLOCK
	JZ   next

	// BLOCK elements from OFF on, one at a time.
again:
	MOVL (PTR)(OFF*4), T0
	XORL (QUERY), T0
	POPCNTL T0, T0
	CMPL T0, Span_Limit(RUN)
	JHI  miss
	MOVQ dst_len+8(FP), T1
	SHLQ $4, T1                  // Hit32 has 16 bytes
	ADDQ dst_base+0(FP), T1
	CMPQ DST, T1
	JCC  done                    // dst is full
	MOVL T0, Hit32_Distance(DST)
	MOVQ count+64(FP), T0
	SUBQ LEFT, T0
	ADDL base+80(FP), T0
	MOVL T0, Hit32_Run(DST)
	MOVQ Span_Start(RUN), T0
	ADDQ OFF, T0
	MOVQ T0, Hit32_Pos(DST)
	ADDQ $Hit32__size, DST

miss:
	INCQ OFF
	DECQ BLOCK
	JNZ  again
	CMPQ OFF, LEN
	JCS  block
	JMP  next
