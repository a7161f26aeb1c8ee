//go:build !purego

#include "textflag.h"

// PRFM never faults, so an index that is wrong does no harm.

// func prefetchAll(xs unsafe.Pointer, bytes uintptr)
TEXT ·prefetchAll(SB), NOSPLIT, $0-16
	MOVD xs+0(FP), R0
	MOVD bytes+8(FP), R1
	ADD  R0, R1, R1               // one past the last byte
	AND  $~63, R0                 // the line of the first

line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	CMP  R1, R0
	BLO  line
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
