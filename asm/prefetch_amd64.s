//go:build !purego

#include "textflag.h"

// PREFETCHT0 never faults, so an index that is wrong does no harm.

// func prefetchAll(xs unsafe.Pointer, bytes uintptr)
TEXT ·prefetchAll(SB), NOSPLIT, $0-16
	MOVQ xs+0(FP), AX
	MOVQ bytes+8(FP), DX
	ADDQ AX, DX                   // one past the last byte
	ANDQ $~63, AX                 // the line of the first

line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, DX
	JCS  line
	RET

// func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)
TEXT ·prefetchAt(SB), NOSPLIT, $0-32
	MOVQ  xs+0(FP), SI
	MOVQ  elem+8(FP), R9
	MOVQ  index+16(FP), DI
	MOVQ  count+24(FP), CX

at:
	MOVQ  (DI), AX
	IMULQ R9, AX
	PREFETCHT0 (SI)(AX*1)
	ADDQ  $8, DI
	DECQ  CX
	JNZ   at
	RET
