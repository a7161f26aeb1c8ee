//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarLocate, for each probe: its line and the bucket's number j in it by a
// multiplication; the word i that holds zero number j, and the zeros before that
// word (SELECT, which is all that the two forms differ in); the zero's place in
// the word by PDEP and TZCNT; the ones right before it, in the eight bytes that end
// with its byte, by BSR. What is found is written in any case; the next extent takes the place of an
// empty one. No branch depends on the data.
//
// A prefetch does not retire before its page is known, and where that misses too, it is the number
// of prefetches among the 512 instructions that the processor holds that says how many misses are
// under way. In a burst there are as many as the memory serves, but nothing else is done meanwhile: a
// line takes 14 ns, and a probe to locate another 9. One line prefetched with each probe that is
// located leaves seven or eight under way, and both take 17 ns together.

#define PROBE   SI    // the next probe
#define EXTENT     DI // address of the next extent
#define LEFT    R15   // probes to go
#define LINES   R8    // of the table
#define SHIFT   R9    // 64 - BucketBits
#define KEYS    R11   // how many the table has
#define INVERSE R12   // see PlanarInverse; b*INVERSE>>64 is b's line
#define PERLINE R13   // buckets a line
#define NUMBER  R14   // of the probe
#define LINE    BX    // address of the bucket's
#define J       DX    // number of the bucket in its line, then of the zero in its word
#define I       AX    // the word, then the place of the zero in the line, then the extent's length
#define END     CX    // of the extent, then its start
#define T0      R12   // INVERSE and SHIFT are read again
#define T1      R9

// BEGIN. AHEAD is where the probes to prefetch for lie, less PROBE; 0 if there are none. Its lines, inverse and shift
// are on the stack like those of p.
#define AHEAD R10

#define BEGIN \
	MOVQ ahead+64(FP), AHEAD              \ // are there probes ahead?
	TESTQ AHEAD, AHEAD                    \
	JZ   own                              \
	SUBQ probes_base+24(FP), AHEAD        \ // where they lie, less PROBE
	MOVQ next+72(FP), AX                  \
	MOVQ PlanarTable_Lines(AX), CX        \ // the lines of their table
	MOVQ CX, nextLines-24(SP)             \
	MOVQ PlanarTable_Inverse(AX), CX      \ // and what finds a line in it
	MOVQ CX, nextInverse-32(SP)           \
	MOVL $64, CX                          \
	SUBQ PlanarTable_BucketBits(AX), CX   \
	MOVQ CX, nextShift-40(SP)             \
own:                                      \
	MOVQ p+48(FP), AX                     \ // the table
	MOVQ PlanarTable_Lines(AX), LINES     \ // the lines
	MOVQ PlanarTable_Keys(AX), KEYS       \
	MOVQ PlanarTable_PerLine(AX), PERLINE \
	MOVQ PlanarTable_Inverse(AX), CX      \ // INVERSE and SHIFT lie on the stack: their registers are scratch
	MOVQ CX, inverse-8(SP)                \
	MOVL $64, CX                          \
	SUBQ PlanarTable_BucketBits(AX), CX   \
	MOVQ CX, shift-16(SP)                 \
	MOVQ extents_base+0(FP), EXTENT       \ // the arguments
	MOVQ probes_base+24(FP), PROBE        \
	MOVQ probes_len+32(FP), LEFT          \
	MOVQ first+56(FP), NUMBER

// PREFETCH_LINE prefetches the line of the probe ahead of this one.
#define PREFETCH_LINE(prefetched) \
	TESTQ AHEAD, AHEAD                       \ // is there a probe ahead?
	JZ    prefetched                         \
	MOVQ  PlanarProbe_Key(PROBE)(AHEAD*1), DX \ // its key
	MOVQ  nextShift-40(SP), SHIFT            \ // its bucket
	SHRXQ SHIFT, DX, DX                      \
	MULXQ nextInverse-32(SP), AX, DX         \ // its line
	SHLQ  $6, DX                             \ // of 64 bytes
	ADDQ  nextLines-24(SP), DX               \
	PREFETCHT0 (DX)

// FIND_LINE sets LINE and J, and END to the line's base less J.
#define FIND_LINE(done) \
	MOVQ  PlanarProbe_Key(PROBE), DX \ // the probe's key
	MOVQ  shift-16(SP), SHIFT        \ // its bucket
	SHRXQ SHIFT, DX, DX              \
	MULXQ inverse-8(SP), AX, LINE    \ // its line, bucket / PERLINE
	MOVQ  LINE, AX                   \ // J = bucket - line*PERLINE
	IMULQ PERLINE, AX                \
	SUBQ  AX, J                      \
	SHLQ  $6, LINE                   \ // address of the line
	ADDQ  LINES, LINE                \
	MOVQ  (LINE), END                \ // the rank of its first key
	MOVQ  END, AX                    \ // any bit above it stops here
	SHRQ  $40, AX                    \
	JNZ   done                       \ // wide, or damaged
	SUBQ  J, END                       // END = base - J

// FINISH has the word in I and J less the zeros before it.
#define FINISH(done, next) \
	MOVQ  (LINE)(I*8), T0                    \ // the word, whose zeros become ones
	NOTQ  T0                                 \
	MOVL  $1, T1                             \ // 1<<J, deposited among them, is zero number J
	SHLXQ J, T1, T1                          \
	PDEPQ T0, T1, T1                         \
	TZCNTQ T1, T1                            \ // its place in the word
	SHLQ  $6, I                              \ // I = 64*word + place
	ADDQ  T1, I                              \
	LEAQ  -64(END)(I*1), END                 \ // END = base + I - 64 - J: the extent's end
	CMPQ  END, KEYS                          \ // is it within the keys?
	JHI   done                               \
	MOVQ  I, T0                              \ // the byte of the zero
	SHRQ  $3, T0                             \
	MOVQ  -7(LINE)(T0*1), T0                 \ // eight bytes that end with it
	NOTL  I                                  \ // bits above the zero
	ANDL  $7, I                              \
	ADDQ  T0, T0                             \ // shifted out, and the zero too: the ones before it are on top
	SHLXQ I, T0, T0                          \
	NOTQ  T0                                 \ // the first zero among them
	BSRQ  T0, I                              \ // is the highest one now
	XORL  $63, I                             \ // as many ones are above: the extent's length
	CMPL  I, $const_PlanarBucketMax          \ // longer extents are the caller's
	JHI   done                               \
	SUBQ  I, END                             \ // the extent's start
	MOVQ  END, PlanarExtent_Start(EXTENT)    \ // the extent, whether it is empty or not
	MOVL  I, PlanarExtent_Len(EXTENT)        \
	MOVL  NUMBER, PlanarExtent_Probe(EXTENT) \
	NEGL  I                                  \ // carry: not empty
	SBBQ  I, I                               \ // all ones if it was not empty
	ANDL  $PlanarExtent__size, I             \
	ADDQ  I, EXTENT                          \ // only then the next extent has another place
	INCQ  NUMBER                             \ // the next probe
	ADDQ  $PlanarProbe__size, PROBE          \
	DECQ  LEFT                               \
	JNZ   next

#define RETURN \
	SUBQ extents_base+0(FP), EXTENT \ // found extents
	SHRQ $4, EXTENT                 \ // PlanarExtent has 16 bytes
	MOVQ EXTENT, found+80(FP)       \
	MOVQ probes_len+32(FP), AX      \ // done probes
	SUBQ LEFT, AX                   \
	MOVQ AX, done+88(FP)

// func planarLocateAVX512(extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable, first uint64, ahead *PlanarProbe, next *PlanarTable) (found, done int)
TEXT ·planarLocateAVX512(SB), NOSPLIT, $40-96
	BEGIN
	// Word 0 of a line holds no bits: K7 leaves it out.
	MOVL  $0xfe, AX
	KMOVW AX, K7                         // the words after the first
	MOVL  $64, AX
	VPBROADCASTQ AX, Z5                 // 64 in every lane, to make zeros of ones
	VPXORQ Z4, Z4, Z4                   // zeros to shift in

	PCALIGN $32
locate:
	PREFETCH_LINE(prefetched)
prefetched:
	FIND_LINE(done)
	// SELECT: zeros of each word, then of all up to it. I is how many of these
	// eight sums, the first of which is 0, are no more than J.
	VPOPCNTQ.Z (LINE), K7, Z1           // ones of each word
	VPSUBQ.Z   Z1, Z5, K7, Z1           // zeros of each word, none of word 0
	VALIGNQ $7, Z4, Z1, Z2              // sums: one lane up
	VPADDQ  Z2, Z1, Z1
	VALIGNQ $6, Z4, Z1, Z2              // two lanes up
	VPADDQ  Z2, Z1, Z1
	VALIGNQ $4, Z4, Z1, Z2              // four lanes up
	VPADDQ  Z2, Z1, Z1
	VPBROADCASTQ J, Z3                  // J in all lanes
	VPCMPUQ $2, Z3, Z1, K1              // sums of J or less: of words before the zero
	KMOVB   K1, I                       // as bits
	CMPL    I, $0xff
	JEQ     done                         // fewer zeros than there must be
	POPCNTL I, I                        // how many: their last is the sum before the word
	LEAL    -1(I), T0                   // the sum before the word, brought to lane 0
	VPBROADCASTQ T0, Z2
	VPERMQ  Z1, Z2, Z2
	VMOVQ   X2, T0                      // the zeros before the word
	SUBQ    T0, J                       // J = number of the zero in its word
	FINISH(done, locate)

done:
	RETURN
	VZEROUPPER
	RET

// COUNT adds the zeros of a word to SUM, keeps that, and counts it in I if it is no
// more than J.
#define SUM T1
#define COUNT(word) \
	MOVQ (8*word)(LINE), T0       \ // a word of the line
	NOTQ T0                       \ // its zeros
	POPCNTQ T0, T0                \
	ADDQ T0, SUM                  \ // all zeros up to its end
	MOVQ SUM, sums-104+8*word(SP) \ // kept for the word after it
	CMPQ J, SUM                   \ // carry if J is less
	SBBQ $-1, I                     // one word further if not

// func planarLocateAVX2(extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable, first uint64, ahead *PlanarProbe, next *PlanarTable) (found, done int)
TEXT ·planarLocateAVX2(SB), NOSPLIT, $104-96
	BEGIN
	MOVQ $0, sums-104(SP)               // no zeros before word 1

	PCALIGN $32
locate:
	PREFETCH_LINE(prefetched)
prefetched:
	FIND_LINE(done)
	// SELECT
	// I counts the words that end before zero number J; sums has, by word, the zeros before it.
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
	SUBQ sums-112(SP)(I*8), J           // J = number of the zero in its word
	FINISH(done, locate)

done:
	RETURN
	RET

#undef SHIFT
#undef INVERSE
#define INVERSE R12

// func planarPrefetchLines(p *PlanarTable, probes []PlanarProbe)
TEXT ·planarPrefetchLines(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX                    // the table
	MOVQ PlanarTable_Lines(AX), LINES
	MOVQ PlanarTable_Inverse(AX), INVERSE
	MOVL $64, CX                        // its shift to a bucket
	SUBQ PlanarTable_BucketBits(AX), CX
	MOVQ probes_base+8(FP), PROBE       // the arguments
	MOVQ probes_len+16(FP), LEFT

ahead:
	MOVQ PlanarProbe_Key(PROBE), AX     // the key
	SHRQ CX, AX                         // its bucket
	MULQ INVERSE                        // its line
	SHLQ $6, DX                         // of 64 bytes
	PREFETCHT0 (LINES)(DX*1)
	ADDQ $PlanarProbe__size, PROBE      // the next probe
	DECQ LEFT
	JNZ  ahead
	RET

// func planarPrefetchExtents(p *PlanarTable, extents []PlanarExtent)
TEXT ·planarPrefetchExtents(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX                    // the table
	MOVQ PlanarTable_Low(AX), LINES
	MOVQ extents_base+8(FP), EXTENT           // the arguments
	MOVQ extents_len+16(FP), LEFT

extent:
	MOVQ PlanarExtent_Start(EXTENT), AX       // the extent
	MOVL PlanarExtent_Len(EXTENT), CX
	LEAQ (LINES)(AX*2), AX              // where it begins
	PREFETCHT0 (AX)
	LEAQ -1(AX)(CX*2), CX                // the last byte
	XORQ CX, AX                         // does the last byte lie on another line?
	TESTQ $-64, AX
	JNZ  second
prefetched:
	ADDQ $PlanarExtent__size, EXTENT          // the next extent
	DECQ LEFT
	JNZ  extent
	RET

second:
	PREFETCHT0 (CX)
	JMP  prefetched
