//go:build !purego

#include "textflag.h"

// differNEON takes a row a round: for each 64 bytes of it XOR, the counts of bytes, and their sum.

#define DST   R0  // address of the next result
#define QUERY R1  // the query
#define WORDS R2  // of a row
#define LINES R3  // row 0
#define ROWS  R4  // the next row's number
#define LEFT  R5  // rows to go
#define ROW   R6  // the row at work
#define ASKED R7  // the query's words to compare next
#define MORE  R8  // words of the row to go
#define SUM   R9  // bits that differ
#define T0    R10 // scratch

// func differNEON(dst []uint32, query, lines []uint64, rows []uint32)
TEXT ·differNEON(SB), NOSPLIT, $0-96
	MOVD dst_base+0(FP), DST
	MOVD query_base+24(FP), QUERY
	MOVD query_len+32(FP), WORDS
	MOVD lines_base+48(FP), LINES
	MOVD rows_base+72(FP), ROWS
	MOVD rows_len+80(FP), LEFT
	CBZ  LEFT, done

row:
	MOVWU.P 4(ROWS), ROW                // where the row is
	MUL  WORDS, ROW, ROW
	ADD  ROW<<3, LINES, ROW
	MOVD QUERY, ASKED
	MOVD WORDS, MORE
	MOVD ZR, SUM

block:
	VLD1.P 64(ROW), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(ASKED), [V4.B16, V5.B16, V6.B16, V7.B16]
	VEOR V4.B16, V0.B16, V0.B16         // bits that differ
	VEOR V5.B16, V1.B16, V1.B16
	VEOR V6.B16, V2.B16, V2.B16
	VEOR V7.B16, V3.B16, V3.B16
	VCNT V0.B16, V0.B16                 // counted by byte
	VCNT V1.B16, V1.B16
	VCNT V2.B16, V2.B16
	VCNT V3.B16, V3.B16
	VADD V1.B16, V0.B16, V0.B16         // at most 32 in each byte
	VADD V3.B16, V2.B16, V2.B16
	VADD V2.B16, V0.B16, V0.B16
	VUADDLV V0.B16, V0                  // the sum of 16 bytes
	VMOV V0.H[0], T0
	ADD  T0, SUM
	SUBS $8, MORE
	BNE  block
	MOVW.P SUM, 4(DST)
	SUBS $1, LEFT                       // the next row
	BNE  row

done:
	RET
