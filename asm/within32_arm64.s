//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// within32NEON looks at up to 32 elements a block: the first 16 and the last 16, or,
// if it has 8 to 15, the first 8 and the last 8, which overlap as the length will
// have it, so that no byte outside the run is read. Bytes are counted, and pairwise
// additions fold the counts of 16 elements into 16 bytes; the smaller one in each
// lane is compared with the limit. A block with a hit is looked at again, one
// element at a time, and so are blocks of fewer than 8.

#define DST    R0  // where the next hit goes
#define END    R1  // end of dst
#define LOW    R2  // start of the big array
#define SIZE   R3  // its elements
#define RUN    R4  // *Span of this run
#define STRIDE R5  // bytes to the next
#define QUERY  R6  // *uint32, this run's query
#define STEP   R7  // bytes to the next
#define LEFT   R8  // runs to go, this one included
#define PTR    R9  // next element of this run
#define LEN    R10 // elements of it to go
#define BLOCK  R11 // elements of this block
#define START  R12 // of the run
#define LIMIT  R13 // of the run
#define T0     R14
#define T1     R15
#define LONG   R16 // longest
#define FIRST  R17 // first element of this run

#define VQ   V30
#define VLIM V31

// Folds the counts of the 16 elements in a, b, c, d into the bytes of a.
#define DISTANCES(a, b, c, d) \
	VEOR VQ.B16, a.B16, a.B16 \
	VEOR VQ.B16, b.B16, b.B16 \
	VEOR VQ.B16, c.B16, c.B16 \
	VEOR VQ.B16, d.B16, d.B16 \
	VCNT a.B16, a.B16         \
	VCNT b.B16, b.B16         \
	VCNT c.B16, c.B16         \
	VCNT d.B16, d.B16         \
	VADDP b.B16, a.B16, a.B16 \
	VADDP d.B16, c.B16, c.B16 \
	VADDP c.B16, a.B16, a.B16

// func within32NEON(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64)
TEXT ·within32NEON(SB), NOSPLIT, $0-112
	MOVD dst_base+0(FP), DST
	MOVD dst_len+8(FP), END
	ADD  END<<4, DST, END         // Hit32 has 16 bytes
	MOVD low_base+24(FP), LOW
	MOVD low_len+32(FP), SIZE
	MOVD runs+48(FP), RUN
	MOVD stride+56(FP), STRIDE
	MOVD count+64(FP), LEFT
	MOVD longest+72(FP), LONG
	MOVD $0, T1
	CBZ  LEFT, done
	// One query for all, which stays where it is, or one in each run.
	MOVD $q+84(FP), QUERY
	MOVD $0, STEP
	CMP  $Span__size, STRIDE
	BEQ  run
	ADD  $Run_Query, RUN, QUERY
	MOVD STRIDE, STEP

run:
	// start <= size && length <= size-start && length <= longest
	MOVD  Span_Start(RUN), START
	MOVWU Span_Len(RUN), LEN
	MOVWU Span_Limit(RUN), LIMIT
	MOVD  $0, T1                  // offset, if this is where it ends
	SUBS  START, SIZE, T0
	BLO   done
	CMP   T0, LEN
	BHI   done
	CMP   LONG, LEN
	BHI   done
	ADD   START<<2, LOW, PTR
	MOVD  PTR, FIRST
	MOVWU (QUERY), T0
	VDUP  T0, VQ.S4
	MOVD  $64, T0
	CMP   T0, LIMIT
	CSEL  LO, LIMIT, T0, T0       // a byte is enough: nothing is further than 32
	VDUP  T0, VLIM.B16

block:
	CMP  $8, LEN
	BLO  few
	CMP  $16, LEN
	BLO  eight
	MOVD $32, T0
	CMP  T0, LEN
	CSEL LO, LEN, T0, BLOCK
	ADD  BLOCK<<2, PTR, T0
	SUB  $64, T0
	VLD1 (PTR), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1 (T0), [V4.B16, V5.B16, V6.B16, V7.B16]
	DISTANCES(V0, V1, V2, V3)
	DISTANCES(V4, V5, V6, V7)
	VUMIN V4.B16, V0.B16, V0.B16
	B    compare

eight:
	MOVD LEN, BLOCK
	ADD  BLOCK<<2, PTR, T0
	SUB  $32, T0
	VLD1 (PTR), [V0.B16, V1.B16]
	VLD1 (T0), [V2.B16, V3.B16]
	DISTANCES(V0, V1, V2, V3)

compare:
	VUMIN VLIM.B16, V0.B16, V1.B16
	VCMEQ V0.B16, V1.B16, V1.B16  // least <= limit
	VMOV V1.D[0], T0
	VMOV V1.D[1], T1
	ORR  T0, T1, T0
	CBNZ T0, again
	ADD  BLOCK<<2, PTR, PTR
	SUBS BLOCK, LEN
	BNE  block

next:
	ADD  STRIDE, RUN
	ADD  STEP, QUERY
	SUBS $1, LEFT
	BNE  run
	MOVD $0, T1

done:
	MOVD dst_base+0(FP), T0
	SUB  T0, DST
	LSR  $4, DST
	MOVD DST, hits+88(FP)
	MOVD count+64(FP), T0
	SUB  LEFT, T0
	MOVD T0, done+96(FP)
	MOVD T1, offset+104(FP)
	RET

few:
	CBZ  LEN, next
	MOVD LEN, BLOCK

	// BLOCK elements, one at a time.
again:
	FMOVS (PTR), F0
	VEOR  VQ.B8, V0.B8, V0.B8
	VMOV  V0.S[0], T0
	FMOVS T0, F0                  // clears the lanes above
	VCNT  V0.B8, V0.B8
	VUADDLV V0.B8, V0
	VMOV  V0.H[0], T0
	CMP   LIMIT, T0
	BHI   miss
	SUB   FIRST, PTR, T1
	LSR   $2, T1                  // offset
	CMP   END, DST
	BHS   done                    // dst is full
	MOVW  T0, Hit32_Distance(DST)
	ADD   START, T1
	MOVD  T1, Hit32_Pos(DST)
	MOVD  count+64(FP), T0
	SUB   LEFT, T0
	MOVWU base+80(FP), T1
	ADD   T1, T0
	MOVW  T0, Hit32_Run(DST)
	ADD   $Hit32__size, DST

miss:
	ADD  $4, PTR
	SUB  $1, LEN
	SUBS $1, BLOCK
	BNE  again
	CBNZ LEN, block
	B    next
