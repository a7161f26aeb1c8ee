//go:build !purego

#include "textflag.h"

// PRFM never faults, so an index that is wrong does no harm.

// func prefetchAll(xs unsafe.Pointer, bytes uintptr)
TEXT ·prefetchAll(SB), NOSPLIT, $0-16
	MOVD xs+0(FP), R0                   // the first byte
	MOVD bytes+8(FP), R1                // how many there are
	ADD  R0, R1, R1               // one past the last byte
	AND  $~63, R0                 // the line of the first

line:
	PRFM (R0), PLDL1KEEP                // one line
	ADD  $64, R0                        // the next
	CMP  R1, R0
	BLO  line
	RET

// func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)
TEXT ·prefetchAt(SB), NOSPLIT, $0-32
	MOVD xs+0(FP), R0                   // the array
	MOVD elem+8(FP), R1                 // bytes of an element
	MOVD index+16(FP), R2               // the next index
	MOVD count+24(FP), R3               // how many there are

at:
	MOVD.P 8(R2), R4                    // an index
	MADD   R1, R0, R4, R4       // xs + elem*index
	PRFM   (R4), PLDL1KEEP              // the line on which the element begins
	SUBS   $1, R3                       // the next index
	BNE    at
	RET
