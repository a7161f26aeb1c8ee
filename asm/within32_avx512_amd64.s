//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// within32AVX512 looks at 16 elements a register. Of a run of up to 32, the first 16
// and the last 16 are loaded, which overlap as the length will have it; a run
// shorter than 16 is loaded twice, both times under the mask of its length. So no
// byte outside the run is read, a run of 16 or more asks for no line that is not
// its own, and no branch depends on the length. (Aligned loads of its two or three
// lines, as planarScanAVX512 has them, were measured: 3.3 ns a run of 16-32 in cache
// instead of 2.4, and the same from memory.) The smaller of the two counts in each lane is
// compared with the limit at once:
//
//	low[0:16] ^ q   popcount \
//	                          min <= limit ? any -> look again, 16 at a time
//	low[n-16:n] ^ q popcount /
//
// Longer runs go 64 elements at a time in the same way. AVX-512 masks a load's
// faults too.

#define LOW     BX  // start of the big array
#define SIZE    R8  // its elements
#define RUN     R10 // *Span of this run
#define STRIDE  R13 // bytes to the next
#define QUERY   R12 // *uint32, this run's query
#define STEP    R15 // bytes to the next
#define LEFT    CX  // runs to go, this one included
#define DST     DI  // where the next hit goes
#define END     R9  // end of dst
#define PTR     AX  // first element of this run
#define LEN     R14 // its elements
#define OFF     SI  // elements of it that are done: 0 at label run
#define T0      DX
#define T1      R11

// When a run is looked at again:
#define STOP    R13 // element at which that ends
#define BITS    R8  // hits among 16

#define VQ    Z1
#define VLIM  Z2

// func within32AVX512(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64)
TEXT ·within32AVX512(SB), NOSPLIT, $0-112
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	SHLQ $4, END                           // Hit32 has 16 bytes
	ADDQ DST, END
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

	PCALIGN $32
run:
	// start <= size && length <= size-start
	MOVQ Span_Start(RUN), T0
	MOVL Span_Len(RUN), LEN
	MOVQ SIZE, T1
	SUBQ T0, T1
	JCS  done
	CMPQ LEN, T1
	JHI  done
	LEAQ (LOW)(T0*4), PTR
	VPBROADCASTD (QUERY), VQ
	VPBROADCASTD Span_Limit(RUN), VLIM
	CMPQ LEN, $32
	JHI  long

	MOVL  $0xffff, T0
	BZHIL LEN, T0, T0
	KMOVW T0, K1
	LEAQ  -16(LEN), T1
	CMPQ  LEN, $16
	CMOVQCS OFF, T1                        // OFF is 0
	VPXORD.Z (PTR), VQ, K1, Z3
	VPXORD.Z (PTR)(T1*4), VQ, K1, Z4
	VPOPCNTD Z3, Z3
	VPOPCNTD Z4, Z4
	VPMINUD Z3, Z4, Z4
	VPCMPUD $2, VLIM, Z4, K1, K3
	KORTESTW K3, K3
	JNZ  rest

next:
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

long:
	CMPQ LEN, longest+72(FP)
	JHI  done

rest:
	LEAQ 64(OFF), STOP
	CMPQ STOP, LEN
	JHI  tail
	VPXORD (PTR)(OFF*4), VQ, Z3
	VPXORD 64(PTR)(OFF*4), VQ, Z4
	VPXORD 128(PTR)(OFF*4), VQ, Z5
	VPXORD 192(PTR)(OFF*4), VQ, Z6
	VPOPCNTD Z3, Z3
	VPOPCNTD Z4, Z4
	VPOPCNTD Z5, Z5
	VPOPCNTD Z6, Z6
	VPMINUD Z3, Z4, Z4
	VPMINUD Z5, Z6, Z6
	VPMINUD Z4, Z6, Z6
	VPCMPUD $2, VLIM, Z6, K3
	KORTESTW K3, K3
	JNZ  again
	MOVQ STOP, OFF
	JMP  rest

tail:
	MOVQ LEN, STOP
	CMPQ OFF, LEN
	JCS  again
	XORL OFF, OFF
	MOVQ stride+56(FP), STRIDE
	MOVQ low_len+32(FP), SIZE
	JMP  next

	// Elements [OFF, STOP), at most 64, 16 at a time.
again:
	MOVQ  STOP, T0
	SUBQ  OFF, T0
	MOVL  $0xffff, T1
	BZHIL T0, T1, T1
	KMOVW T1, K1
	VPXORD.Z (PTR)(OFF*4), VQ, K1, Z3
	VPOPCNTD Z3, Z3
	VPCMPUD $2, VLIM, Z3, K1, K3
	KMOVW K3, BITS
	POPCNTL BITS, T0
	SHLQ  $4, T0
	ADDQ  DST, T0
	CMPQ  T0, END
	JHI   done                             // dst cannot take these

	// The run's number.
	MOVQ count+64(FP), T1
	SUBQ LEFT, T1
	ADDL base+80(FP), T1
	JMP  more

hit:
	TZCNTL BITS, T0
	ADDQ   OFF, T0
	MOVL   T1, Hit32_Run(DST)
	MOVL   (PTR)(T0*4), LEFT               // lent until the hits are out
	XORL   (QUERY), LEFT
	POPCNTL LEFT, LEFT
	MOVL   LEFT, Hit32_Distance(DST)
	ADDQ   Span_Start(RUN), T0
	MOVQ   T0, Hit32_Pos(DST)
	ADDQ   $Hit32__size, DST
	LEAL   -1(BITS), T0
	ANDL   T0, BITS

more:
	TESTL BITS, BITS
	JNZ   hit
	// LEFT = count - (run's number - base)
	MOVQ count+64(FP), LEFT
	SUBL base+80(FP), T1
	SUBQ T1, LEFT
	ADDQ $16, OFF
	CMPQ OFF, STOP
	JCS  again
	MOVQ STOP, OFF
	JMP  rest
