//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarLocate, for each probe: its line and the bucket's number j in it by a
// multiplication; the word i that holds zero number j, and the zeros before that
// word (SELECT, which is all that the two forms differ in); the zero's place in
// the word by PDEP and TZCNT; the ones right before it, in the eight bytes that end
// with its byte, by BSR. What is found is written in any case; the next run takes the place of an
// empty one. No branch depends on what is found.
//
// A prefetch does not retire before its page is known, and where that misses too, it is the number
// of prefetches among the 512 instructions that the processor holds that says how many misses are
// under way. In a burst there are as many as the memory serves, but nothing else is done meanwhile: a
// line takes 14 ns, and a probe to locate another 9. One line asked for with each probe that is
// located leaves seven or eight under way, and both take 17 ns together.

#define PROBE   SI
#define RUN     DI
#define LEFT    R15 // probes to go
#define LINES   R8
#define SHIFT   R9  // 64 - BucketBits
#define KEYS    R11
#define INVERSE R12
#define PERLINE R13
#define NUMBER  R14 // of the probe
#define LINE    BX  // address of the bucket's
#define J       DX  // number of the bucket in its line, then of the zero in its word
#define I       AX  // the word, then the place of the zero in the line, then the run's length
#define END     CX  // of the run, then its start
#define T0      R12 // INVERSE and SHIFT are read again
#define T1      R9

// BEGIN. AHEAD is where the probes to ask for lie, less PROBE; 0 if there are none. Its lines, inverse and shift
// are on the stack like those of p.
#define AHEAD R10

#define BEGIN \
	MOVQ ahead+64(FP), AHEAD             \
	TESTQ AHEAD, AHEAD                   \
	JZ   own                             \
	SUBQ probes_base+24(FP), AHEAD       \
	MOVQ next+72(FP), AX                 \
	MOVQ PlanarTable_Lines(AX), CX            \
	MOVQ CX, nextLines-24(SP)            \
	MOVQ PlanarTable_Inverse(AX), CX          \
	MOVQ CX, nextInverse-32(SP)          \
	MOVL $64, CX                         \
	SUBQ PlanarTable_BucketBits(AX), CX       \
	MOVQ CX, nextShift-40(SP)            \
own: \
	MOVQ p+48(FP), AX                    \
	MOVQ PlanarTable_Lines(AX), LINES         \
	MOVQ PlanarTable_Keys(AX), KEYS           \
	MOVQ PlanarTable_PerLine(AX), PERLINE     \
	MOVQ PlanarTable_Inverse(AX), CX          \
	MOVQ CX, inverse-8(SP)               \
	MOVL $64, CX                         \
	SUBQ PlanarTable_BucketBits(AX), CX       \
	MOVQ CX, shift-16(SP)                \
	MOVQ runs_base+0(FP), RUN            \
	MOVQ probes_base+24(FP), PROBE       \
	MOVQ probes_len+32(FP), LEFT         \
	MOVQ first+56(FP), NUMBER

// ASK asks for the line of the probe ahead of this one.
#define ASK(asked) \
	TESTQ AHEAD, AHEAD                   \
	JZ    asked                          \
	MOVQ  PlanarProbe_Key(PROBE)(AHEAD*1), DX \
	MOVQ  nextShift-40(SP), SHIFT        \
	SHRXQ SHIFT, DX, DX                  \
	MULXQ nextInverse-32(SP), AX, DX     \
	SHLQ  $6, DX                         \
	ADDQ  nextLines-24(SP), DX           \
	PREFETCHT0 (DX)

// FIND_LINE sets LINE and J, and END to the line's base less J.
#define FIND_LINE(done) \
	MOVQ  PlanarProbe_Key(PROBE), DX     \
	MOVQ  shift-16(SP), SHIFT            \
	SHRXQ SHIFT, DX, DX                  \
	MULXQ inverse-8(SP), AX, LINE        \
	MOVQ  LINE, AX                       \
	IMULQ PERLINE, AX                    \
	SUBQ  AX, J                          \
	SHLQ  $6, LINE                       \
	ADDQ  LINES, LINE                    \
	MOVQ  (LINE), END                    \
	MOVQ  END, AX                        \
	SHRQ  $40, AX                        \
	JNZ   done                           \ // wide, or a lie
	SUBQ  J, END

// FINISH has the word in I and J less the zeros before it.
#define FINISH(done, next) \
	MOVQ  (LINE)(I*8), T0                \
	NOTQ  T0                             \
	MOVL  $1, T1                         \
	SHLXQ J, T1, T1                      \
	PDEPQ T0, T1, T1                     \
	TZCNTQ T1, T1                        \
	SHLQ  $6, I                          \
	ADDQ  T1, I                          \
	LEAQ  -64(END)(I*1), END             \
	CMPQ  END, KEYS                      \
	JHI   done                           \
	MOVQ  I, T0                          \
	SHRQ  $3, T0                         \
	MOVQ  -7(LINE)(T0*1), T0             \
	NOTL  I                              \
	ANDL  $7, I                          \
	ADDQ  T0, T0                         \
	SHLXQ I, T0, T0                      \
	NOTQ  T0                             \
	BSRQ  T0, I                          \
	XORL  $63, I                         \
	CMPL  I, $const_PlanarBucketMax      \
	JHI   done                           \
	SUBQ  I, END                         \
	MOVQ  END, PlanarRun_Start(RUN)      \
	MOVL  I, PlanarRun_Len(RUN)          \
	MOVL  NUMBER, PlanarRun_Probe(RUN)   \
	NEGL  I                              \ // carry: not empty
	SBBQ  I, I                           \
	ANDL  $PlanarRun__size, I            \
	ADDQ  I, RUN                         \
	INCQ  NUMBER                         \
	ADDQ  $PlanarProbe__size, PROBE      \
	DECQ  LEFT                           \
	JNZ   next

#define RETURN \
	SUBQ runs_base+0(FP), RUN            \
	SHRQ $4, RUN                         \ // PlanarRun has 16 bytes
	MOVQ RUN, found+80(FP)               \
	MOVQ probes_len+32(FP), AX           \
	SUBQ LEFT, AX                        \
	MOVQ AX, done+88(FP)

// func planarLocateAVX512(runs []PlanarRun, probes []PlanarProbe, p *PlanarTable, first uint64, ahead *PlanarProbe, next *PlanarTable) (found, done int)
TEXT ·planarLocateAVX512(SB), NOSPLIT, $40-96
	BEGIN
	MOVL  $0xfe, AX
	KMOVW AX, K7                         // the words behind the first
	MOVL  $64, AX
	VPBROADCASTQ AX, Z5
	VPXORQ Z4, Z4, Z4

	PCALIGN $32
locate:
	ASK(asked)
asked:
	FIND_LINE(done)
	// SELECT: zeros of each word, then of all up to it. I is how many of these
	// eight sums, of which the first is 0, are no more than J.
	VPOPCNTQ.Z (LINE), K7, Z1
	VPSUBQ.Z   Z1, Z5, K7, Z1
	VALIGNQ $7, Z4, Z1, Z2
	VPADDQ  Z2, Z1, Z1
	VALIGNQ $6, Z4, Z1, Z2
	VPADDQ  Z2, Z1, Z1
	VALIGNQ $4, Z4, Z1, Z2
	VPADDQ  Z2, Z1, Z1
	VPBROADCASTQ J, Z3
	VPCMPUQ $2, Z3, Z1, K1
	KMOVB   K1, I
	CMPL    I, $0xff
	JEQ     done                         // fewer zeros than there must be
	POPCNTL I, I
	LEAL    -1(I), T0
	VPBROADCASTQ T0, Z2
	VPERMQ  Z1, Z2, Z2
	VMOVQ   X2, T0
	SUBQ    T0, J
	FINISH(done, locate)

done:
	RETURN
	VZEROUPPER
	RET

// COUNT adds the zeros of a word to SUM, keeps that, and counts it in I if it is no
// more than J.
#define SUM T1
#define COUNT(word) \
	MOVQ (8*word)(LINE), T0              \
	NOTQ T0                              \
	POPCNTQ T0, T0                       \
	ADDQ T0, SUM                         \
	MOVQ SUM, sums-104+8*word(SP)         \
	CMPQ J, SUM                          \
	SBBQ $-1, I

// func planarLocateAVX2(runs []PlanarRun, probes []PlanarProbe, p *PlanarTable, first uint64, ahead *PlanarProbe, next *PlanarTable) (found, done int)
TEXT ·planarLocateAVX2(SB), NOSPLIT, $104-96
	BEGIN
	MOVQ $0, sums-104(SP)

	PCALIGN $32
locate:
	ASK(asked)
asked:
	FIND_LINE(done)
	// SELECT
	MOVL $1, I
	XORL SUM, SUM
	COUNT(1)
	COUNT(2)
	COUNT(3)
	COUNT(4)
	COUNT(5)
	COUNT(6)
	COUNT(7)
	CMPL I, $8
	JEQ  done                            // fewer zeros than there must be
	SUBQ sums-112(SP)(I*8), J
	FINISH(done, locate)

done:
	RETURN
	RET

#undef SHIFT
#undef INVERSE
#define INVERSE R12

// func planarPrefetchLinesAMD64(p *PlanarTable, probes []PlanarProbe)
TEXT ·planarPrefetchLinesAMD64(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX
	MOVQ PlanarTable_Lines(AX), LINES
	MOVQ PlanarTable_Inverse(AX), INVERSE
	MOVL $64, CX
	SUBQ PlanarTable_BucketBits(AX), CX
	MOVQ probes_base+8(FP), PROBE
	MOVQ probes_len+16(FP), LEFT

ahead:
	MOVQ PlanarProbe_Key(PROBE), AX
	SHRQ CX, AX
	MULQ INVERSE
	SHLQ $6, DX
	PREFETCHT0 (LINES)(DX*1)
	ADDQ $PlanarProbe__size, PROBE
	DECQ LEFT
	JNZ  ahead
	RET

// func planarPrefetchRunsAMD64(p *PlanarTable, runs []PlanarRun)
TEXT ·planarPrefetchRunsAMD64(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX
	MOVQ PlanarTable_Low(AX), LINES
	MOVQ runs_base+8(FP), RUN
	MOVQ runs_len+16(FP), LEFT

ask:
	MOVQ PlanarRun_Start(RUN), AX
	MOVL PlanarRun_Len(RUN), CX
	LEAQ (LINES)(AX*2), AX
	PREFETCHT0 (AX)
	LEAQ -1(AX)(CX*2), CX                // the last byte
	XORQ CX, AX
	TESTQ $-64, AX
	JNZ  second
asked:
	ADDQ $PlanarRun__size, RUN
	DECQ LEFT
	JNZ  ask
	RET

second:
	PREFETCHT0 (CX)
	JMP  asked
