//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// within32AVX512 looks at 16 elements a register. Of a run that fits in two
// registers, both are loaded under masks, so that no byte outside the run is read
// and no branch depends on the length; when the run fits in one, the second load is
// an empty one at the address of the first, so that it asks for no further line.
// The smaller of the two counts in each lane is compared with the limit at once:
//
//	low[0:16] ^ q  popcount \
//	                         min <= limit ? any -> look again, 16 at a time
//	low[16:32] ^ q popcount /
//
// Lanes outside the run count 32 bits of difference. (With a limit of 32 they
// raise a false alarm, and looking again finds nothing there.) Longer runs go 64
// elements at a time in the same way. AVX-512 masks a load's faults too.

#define S     BX  // *scan32
#define RUN   R10 // *Span of this run
#define LEFT  CX  // runs to go, this one included
#define QUERY R12 // *uint32, this run's query
#define DST   DI  // where the next hit goes
#define END   R9  // end of dst
#define PTR   AX  // first element of this run
#define LEN   R14 // its elements
#define OFF   SI  // elements of it that are done
#define STOP  R13 // element at which looking again ends
#define BITS  R8  // hits among 16
#define T0    DX
#define T1    R11

#define ONES  Z0
#define VQ    Z1
#define VLIM  Z2

// func within32AVX512(s *scan32)
TEXT ·within32AVX512(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), S
	MOVQ scan32_dst(S), DST
	MOVQ scan32_dst+8(S), END
	SHLQ $4, END                           // Hit32 has 16 bytes
	ADDQ DST, END
	MOVQ scan32_runs(S), RUN
	MOVQ scan32_query(S), QUERY
	MOVQ scan32_count(S), LEFT
	XORL OFF, OFF
	VPTERNLOGD $0xff, ONES, ONES, ONES
	TESTQ LEFT, LEFT
	JZ   done

	PCALIGN $32
run:
	// start <= size && length <= size-start && length <= longest
	MOVQ Span_Start(RUN), T0
	MOVL Span_Len(RUN), LEN
	MOVQ scan32_low+8(S), T1
	SUBQ T0, T1
	JCS  done
	CMPQ LEN, T1
	JHI  done
	CMPQ LEN, scan32_longest(S)
	JHI  done
	MOVQ scan32_low(S), PTR
	LEAQ (PTR)(T0*4), PTR
	VPBROADCASTD (QUERY), VQ
	VPBROADCASTD Span_Limit(RUN), VLIM
	CMPQ LEN, $32
	JHI  long

	MOVL  $-1, T0
	BZHIL LEN, T0, T0
	KMOVW T0, K1
	SHRL  $16, T0
	KMOVW T0, K2
	LEAQ  64(PTR), T1
	CMPQ  LEN, $16
	CMOVQLS PTR, T1
	VMOVDQA32 ONES, Z3
	VMOVDQA32 ONES, Z4
	VPXORD (PTR), VQ, K1, Z3
	VPXORD (T1), VQ, K2, Z4
	VPOPCNTD Z3, Z3
	VPOPCNTD Z4, Z4
	VPMINUD Z3, Z4, Z4
	VPCMPUD $2, VLIM, Z4, K3
	KORTESTW K3, K3
	JNZ  long

next:
	ADDQ scan32_stride(S), RUN
	ADDQ scan32_queryStride(S), QUERY
	DECQ LEFT
	JNZ  run

done:
	MOVQ DST, T0
	SUBQ scan32_dst(S), T0
	SHRQ $4, T0
	MOVQ T0, scan32_hits(S)
	MOVQ scan32_count(S), T0
	SUBQ LEFT, T0
	MOVQ T0, scan32_done(S)
	MOVQ OFF, scan32_offset(S)
	VZEROUPPER
	RET

long:
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
	JMP  long

tail:
	MOVQ LEN, STOP
	CMPQ OFF, LEN
	JCS  again
	XORL OFF, OFF
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
	MOVQ scan32_count(S), T1
	SUBQ LEFT, T1
	ADDL scan32_base(S), T1
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
	MOVQ scan32_count(S), LEFT
	SUBL scan32_base(S), T1
	SUBQ T1, LEFT
	ADDQ $16, OFF
	CMPQ OFF, STOP
	JCS  again
	MOVQ STOP, OFF
	JMP  long
