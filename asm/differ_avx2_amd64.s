//go:build !purego

#include "textflag.h"
#include "mula_avx2_amd64.h"

// differAVX2 is differAVX512 with bytes counted by table, 32 of them at a time, and summed by word.

#define DST   DI  // address of the next result
#define QUERY SI  // the query
#define LINES R8  // row 0
#define ROWS  R9  // the next row's number
#define LEFT  CX  // rows to go
#define BYTES DX  // of a row
#define ROW   R10 // the row at work
#define OFF   AX  // bytes of it done
#define T0    R11 // scratch

#define ZERO Y2 // 0, to sum bytes

#define DIFFERING(at, y, t) \
	VMOVDQU at(QUERY)(OFF*1), y  \
	VPXOR   at(ROW)(OFF*1), y, y \ // bits that differ
	COUNT_BYTES(y, t)            \ // counted by byte
	VPSADBW ZERO, y, y           \ // by word
	VPADDQ  y, Y0, Y0

// func differAVX2(dst []uint32, query, lines []uint64, rows []uint32)
TEXT ·differAVX2(SB), NOSPLIT, $0-96
	MOVQ dst_base+0(FP), DST
	MOVQ query_base+24(FP), QUERY
	MOVQ query_len+32(FP), BYTES
	SHLQ $3, BYTES
	MOVQ lines_base+48(FP), LINES
	MOVQ rows_base+72(FP), ROWS
	MOVQ rows_len+80(FP), LEFT
	TESTQ LEFT, LEFT
	JZ   done
	LOAD_TABLE(T0, X3)                  // the popcount by table
	VPXOR ZERO, ZERO, ZERO

row:
	MOVL  (ROWS), ROW                   // where the row is
	IMULQ BYTES, ROW
	ADDQ  LINES, ROW
	VPXOR Y0, Y0, Y0                    // no bits yet
	XORL  OFF, OFF

block:
	DIFFERING(0, Y4, Y5)
	DIFFERING(32, Y6, Y7)
	ADDQ  $64, OFF
	CMPQ  OFF, BYTES
	JCS   block
	VEXTRACTI128 $1, Y0, X1             // the sum of four lanes
	VPADDQ X1, X0, X0
	VPSHUFD $0xee, X0, X1
	VPADDQ X1, X0, X0
	VMOVD X0, (DST)
	ADDQ  $4, DST                       // the next row
	ADDQ  $4, ROWS
	DECQ  LEFT
	JNZ   row
	VZEROUPPER

done:
	RET
