//go:build !purego

#include "textflag.h"

// differAVX512 takes a row a round: for each 64 bytes of it XOR, the counts of eight words and their sums by lane; at the
// end the sum of the lanes. Rounds do not depend on each other, so that the misses of several rows are under way at once.

#define DST   DI  // address of the next result
#define QUERY SI  // the query
#define LINES R8  // row 0
#define ROWS  R9  // the next row's number
#define LEFT  CX  // rows to go
#define BYTES DX  // of a row
#define ROW   R10 // the row at work
#define OFF   AX  // bytes of it done

// func differAVX512(dst []uint32, query, lines []uint64, rows []uint32)
TEXT ·differAVX512(SB), NOSPLIT, $0-96
	MOVQ dst_base+0(FP), DST
	MOVQ query_base+24(FP), QUERY
	MOVQ query_len+32(FP), BYTES
	SHLQ $3, BYTES
	MOVQ lines_base+48(FP), LINES
	MOVQ rows_base+72(FP), ROWS
	MOVQ rows_len+80(FP), LEFT
	TESTQ LEFT, LEFT
	JZ   done

row:
	MOVL  (ROWS), ROW                   // where the row is
	IMULQ BYTES, ROW
	ADDQ  LINES, ROW
	VPXORQ Z0, Z0, Z0                   // no bits yet
	XORL  OFF, OFF

block:
	VMOVDQU64 (QUERY)(OFF*1), Z1
	VPXORQ (ROW)(OFF*1), Z1, Z1         // bits that differ
	VPOPCNTQ Z1, Z1                     // how many, by word
	VPADDQ Z1, Z0, Z0
	ADDQ  $64, OFF
	CMPQ  OFF, BYTES
	JCS   block
	VEXTRACTI64X4 $1, Z0, Y1            // the sum of eight lanes
	VPADDQ Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
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
