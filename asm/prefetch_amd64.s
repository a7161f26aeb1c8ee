//go:build !purego

#include "textflag.h"

// PREFETCHT0 never faults, so an index that is wrong does no harm.

// func prefetchAll(xs unsafe.Pointer, bytes uintptr)
TEXT ·prefetchAll(SB), NOSPLIT, $0-16
	MOVQ xs+0(FP), AX                   // the first byte
	MOVQ bytes+8(FP), DX                // how many there are
	ADDQ AX, DX                   // one past the last byte
	ANDQ $~63, AX                 // the line of the first

line:
	PREFETCHT0 (AX)                     // one line
	ADDQ $64, AX                        // the next
	CMPQ AX, DX                         // up to the last byte
	JCS  line
	RET

// func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)
TEXT ·prefetchAt(SB), NOSPLIT, $0-32
	MOVQ  xs+0(FP), SI                  // the array
	MOVQ  elem+8(FP), R9                // bytes of an element
	MOVQ  index+16(FP), DI              // the next index
	MOVQ  count+24(FP), CX              // how many there are

at:
	MOVQ  (DI), AX                      // an index
	IMULQ R9, AX                        // in bytes
	PREFETCHT0 (SI)(AX*1)               // the line on which the element begins
	ADDQ  $8, DI                        // the next index
	DECQ  CX
	JNZ   at
	RET
