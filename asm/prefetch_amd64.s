//go:build !purego

#include "textflag.h"

// PREFETCHT0 never faults, so a run or an index that is wrong does no harm; the
// kernel that follows says so.

#define LOW    SI
#define RUN    DI
#define STRIDE R9
#define COUNT  CX
#define LINE   AX
#define LAST   DX

// prefetchLines lines at most, each within the run.
#define NEXT_LINE(done) \
	PREFETCHT0 (LINE)  \
	ADDQ $64, LINE     \
	CMPQ LINE, LAST    \
	JHI  done

// func prefetchRuns(low *uint32, runs unsafe.Pointer, stride uintptr, count int)
TEXT ·prefetchRuns(SB), NOSPLIT, $0-32
	MOVQ  low+0(FP), LOW
	MOVQ  runs+8(FP), RUN
	MOVQ  stride+16(FP), STRIDE
	MOVQ  count+24(FP), COUNT

loop:
	MOVQ  0(RUN), LINE            // Start
	MOVL  8(RUN), LAST            // Len
	LEAQ  (LOW)(LINE*4), LINE     // first byte
	LEAQ  -1(LINE)(LAST*4), LAST  // last byte
	ANDQ  $~63, LINE              // its line
	CMPQ  LINE, LAST
	JHI   next                    // an empty run at the start of a line
	NEXT_LINE(next)
	NEXT_LINE(next)
	NEXT_LINE(next)
	NEXT_LINE(next)
	PREFETCHT0 (LINE)

next:
	ADDQ  STRIDE, RUN
	DECQ  COUNT
	JNZ   loop
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
