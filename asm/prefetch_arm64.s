//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// PRFM never faults, so a run or an index that is wrong does no harm; the kernel
// that follows says so.

// func prefetchRuns(low *uint32, runs unsafe.Pointer, stride uintptr, count int)
TEXT ·prefetchRuns(SB), NOSPLIT, $0-32
	MOVD low+0(FP), R0
	MOVD runs+8(FP), R2
	MOVD stride+16(FP), R3
	MOVD count+24(FP), R4

loop:
	MOVD  0(R2), R5             // Start
	MOVWU 8(R2), R6             // Len
	ADD   R5<<2, R0, R5         // first byte
	ADD   R6<<2, R5, R6         // one past the last byte
	AND   $~63, R5              // its line
	MOVD  $const_prefetchLines, R7

line:
	CMP   R6, R5
	BHS   next
	PRFM  (R5), PLDL1KEEP
	ADD   $64, R5
	SUBS  $1, R7
	BNE   line

next:
	ADD   R3, R2
	SUBS  $1, R4
	BNE   loop
	RET

// func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)
TEXT ·prefetchAt(SB), NOSPLIT, $0-32
	MOVD xs+0(FP), R0
	MOVD elem+8(FP), R1
	MOVD index+16(FP), R2
	MOVD count+24(FP), R3

at:
	MOVD.P 8(R2), R4
	MADD   R1, R0, R4, R4       // xs + elem*index
	PRFM   (R4), PLDL1KEEP
	SUBS   $1, R3
	BNE    at
	RET
