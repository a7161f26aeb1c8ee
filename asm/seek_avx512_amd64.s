//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// seekAVX512: see seek.go. Eight lanes are a group, A and B. For each lane:
//
//	l     = the length of the first code in BITS, or 0: the lane waits
//	h     = its position
//	v     = 8 bytes of data at 8 + T>>3   end with the byte in which the raw bits end
//	v   <<= ~T & 7                        their top bit is the top bit of v
//	d     = 1<<h | v>>(64-h)              by one shift of a 1 and v
//	key  ^= d
//
// Of a lane that waits, h is 0 and the 1 is a 0, and so nothing changes.
//
// 57 bits of code last for 7 steps of at most 6 bits and one of 12, or for 8 steps of 6. A 1 in
// bit 63 of BITS, beyond them, moves down with the codes: the zeros above it are how far they went.
//
// Where data is read: T is at least CODE before a round, and CODE 8*seekFirst + headBits or more. Of a round's
// eight keys T loses 57 bits each, one may lose 63: so T stays positive. Above, raw bits begin where
// their half ends, and eight bytes at CODE end before raw bits do.
//
// The chain of a lane: 6 cycles a step (VPERMB 5, VPSRLVQ 1), and the gathers of code, of a long code and of
// its raw bits, some 30 each. Two groups take their steps in turn for that.

#define SEEK    DI   // the state
#define BASE    SI   // data
#define WINDOW  R8   // of the code
#define LANES   R9   // that are under way
#define READ    R10  // lanes of this pass before this group
#define WRITE   R11  // of them that go on
#define PASSES  R12  // to go in this call
#define HITS    R13  // hits so far
#define PAIR    DX   // 1: B is still to be dealt with
#define AHEAD   R14  // the next line to prefetch,
#define AHEADEND R15 // the end of them, less those of one group
#define NEXT    BX   // and what they are bytes of

#define E     Z0 // position h
#define L     Z1 // length of its code
#define A     Z2 // address
#define V     Z3 // raw bits, at the top
#define S     Z4 // shifts
#define X     Z5 // scratch
#define D     Z6 // 1, then what the key changes by

// Of a group: its last two keys, T, LEFT, QUERY, HIGH, BITS, and the last lengths.
#define KEY0  Z7  // the last key, before every other step
#define KEY1  Z8  // the last key in between
#define T     Z9  // see above
#define LEFT  Z10 // keys that the half still has, and the probe
#define QUERY Z11 // what keys are near to
#define BITS  Z12 // codes that are not used yet
#define HIGH  Z13 // where a probe ends
#define LAST  Z14 // lengths of the codes of the last step

#define KEY0B  Z15 // the same of group B
#define KEY1B  Z16
#define TB     Z17
#define LEFTB  Z18
#define QUERYB Z19
#define BITSB  Z20
#define HIGHB  Z21
#define LASTB  Z22

#define CODE    Z24 // bit of data of the next code
#define QUICK   Z25 // positions by six bits of code
#define LENGTHS Z26 // and lengths
#define ONE     Z27 // 1 in every lane
#define SEVEN   Z28 // 7 in every lane
#define MOST    Z29 // distance of a hit

#define SOUND  K4 // lanes where nothing is wrong
#define LIVE   K5 // lanes that are under way
#define BYTE0  K6 // the low byte of every lane
#define SOUNDB K3 // the same of group B
#define LIVEB  K7

DATA ·seekConst+0(SB)/8, $4095          // the window's 12 bits
DATA ·seekConst+8(SB)/8, $255           // one byte
DATA ·seekConst+16(SB)/8, $const_hMax  // the largest h
DATA ·seekConst+24(SB)/8, $const_seekAhead // bits from T to the end of the raw bits
DATA ·seekConst+32(SB)/8, $0x8000000000000000 // the 1 above BITS
DATA ·seekConst+40(SB)/8, $(const_seekUnit-1) // the number of keys left
DATA ·seekConst+48(SB)/8, $(const_seekUnit-const_seekSteps) // all of it above the keys of a round
GLOBL ·seekConst(SB), RODATA|NOPTR, $56

// REFILL gets the 57 bits of code after CODE, with a 1 above them, for the lanes of LIVEK.
#define REFILL(LIVEK, CODEREG, BITREG) \
	VPSRLQ      $3, CODEREG, A               \ // the byte of the next code
	VPXORQ      BITREG, BITREG, BITREG       \ // zeros where nothing is read
	KMOVB       LIVEK, K2                    \ // the gather clears its mask
	VPGATHERQQ  (BASE)(A*1), K2, BITREG      \ // eight bytes, shifted to the code's first bit
	VPANDQ      SEVEN, CODEREG, S            \
	VPSRLVQ     S, BITREG, BITREG            \
	VPORQ.BCST  ·seekConst+32(SB), BITREG, BITREG   // a 1 on top

// RAW puts the raw bits that end at TREG into V, at its top.
#define RAW(LIVEK, TREG) \
	VPSRLQ      $3, TREG, A         \ // the byte of the raw bits
	VPXORQ      V, V, V             \ // zeros where nothing is read
	KMOVB       LIVEK, K2           \
	VPGATHERQQ  8(BASE)(A*1), K2, V \ // eight bytes that end with the last one
	VPANDNQ     SEVEN, TREG, S      \ // ~T & 7
	VPSLLVQ     S, V, V               // raw bits to the top

// CHANGE makes the next key of D, 1 or 0, and E and V, and goes to hit if it is near.
#define CHANGE(BEFORE, KEY, TREG, LEFTREG, QUERYREG, LIVEK, SOUNDK, hit, back) \
	VPSUBQ      D, LEFTREG, LEFTREG          \ // a key less, unless the lane waits
	VPSHLDVQ    E, V, D                      \ // D<<E with the top E bits of V below it
	VPSUBQ      E, TREG, TREG                \ // past the raw bits
	VPXORQ      D, BEFORE, KEY               \ // the next key
	VPCMPUQ     $5, BEFORE, KEY, SOUNDK, SOUNDK \ // it must not be less
	VPXORQ      QUERYREG, KEY, X             \ // bits that differ
	VPOPCNTQ    X, X                         \ // how many
	VPCMPUQ     $2, MOST, X, LIVEK, K1       \ // near the query?
	KORTESTB    K1, K1                       \ // any lane?
	JNZ         hit                          \
back:

#define STEPA(BEFORE, KEY, hit, back) \
	VPERMB.Z    LENGTHS, BITS, BYTE0, LAST   \ // length of the first code; 0 if longer than six bits
	VPERMB.Z    QUICK, BITS, BYTE0, E        \ // its position, or 0
	VPSRLVQ     LAST, BITS, BITS             \ // past the code
	RAW(LIVE, T)                             \
	VPMINUB     LAST, ONE, D                 \ // 1, or 0 for a lane that waits
	CHANGE(BEFORE, KEY, T, LEFT, QUERY, LIVE, SOUND, hit, back)

#define STEPB(BEFORE, KEY, hit, back) \
	VPERMB.Z    LENGTHS, BITSB, BYTE0, LASTB \ // the same of group B
	VPERMB.Z    QUICK, BITSB, BYTE0, E       \
	VPSRLVQ     LASTB, BITSB, BITSB          \
	RAW(LIVEB, TB)                           \
	VPMINUB     LASTB, ONE, D                \
	CHANGE(BEFORE, KEY, TB, LEFTB, QUERYB, LIVEB, SOUNDB, hit, back)

// LASTSTEP is STEPA for lanes that may have no key left.
#define LASTSTEP(BEFORE, KEY, hit, back) \
	VPTESTMQ.BCST ·seekConst+40(SB), LEFT, LIVE, K1 \ // lanes that have a key left
	VPERMB.Z    LENGTHS, BITS, BYTE0, LAST   \
	VPERMB.Z    QUICK, BITS, BYTE0, E        \
	VMOVDQA64.Z E, K1, E                     \ // others stand still
	VPSRLVQ     LAST, BITS, K1, BITS         \ // and take no code
	RAW(LIVE, T)                             \
	VPMINUB     LAST, ONE, D                 \
	VMOVDQA64.Z D, K1, D                     \ // nor a key
	CHANGE(BEFORE, KEY, T, LEFT, QUERY, LIVE, SOUND, hit, back)

// HIT writes the keys of K1, if they have just been made and are not beyond HIGH. If there is no room left,
// the group is left.
#define HIT(hit, back, KEY, LEFTREG, HIGHREG, SOUNDK) \
hit:                                         \
	VPTESTMQ    D, D, K1, K1                 \ // the lane made a key
	VPCMPUQ     $2, HIGHREG, KEY, K1, K1     \ // that is not beyond HIGH
	VPCOMPRESSQ KEY, K1, X                   \ // pressed together
	VMOVDQU64   X, Seek_hitKey(SEEK)(HITS*8) \ // to the next places
	VPCOMPRESSQ LEFTREG, K1, X               \ // and their probes
	VMOVDQU64   X, Seek_hitProbe(SEEK)(HITS*8) \
	KMOVB       K1, AX                       \ // how many
	POPCNTL     AX, AX                       \
	ADDQ        AX, HITS                     \ // so many more
	CMPQ        HITS, $const_seekHits        \ // no room: forget them, and leave the group to the caller
	JLE         back                         \
	SUBQ        AX, HITS                     \
	KXORB       SOUNDK, SOUNDK, SOUNDK       \
	JMP         back

// KEEP presses those lanes together that go on.
#define KEEP(LANE, FIELD) \
	VPCOMPRESSQ LANE, K2, X             \ // the lanes of K2 together
	VMOVDQU64   X, FIELD(SEEK)(WRITE*8)   // to where those that go on lie

// func seekAVX512(s *Seek, data *byte, k int, w *Window) (prefetched int)
TEXT ·seekAVX512(SB), NOSPLIT, $0-40
	// The arguments.
	MOVQ s+0(FP), SEEK
	MOVQ data+8(FP), BASE
	MOVQ w+24(FP), WINDOW
	MOVL $const_seekCall, PASSES
	MOVQ Seek_n(SEEK), LANES
	MOVQ Seek_hits(SEEK), HITS

	// Constants for all passes.
	VPBROADCASTQ k+16(FP), MOST
	VMOVDQU64    Window_quick(WINDOW), QUICK
	VMOVDQU64    Window_quickLengths(WINDOW), LENGTHS
	MOVL         $1, AX
	VPBROADCASTQ AX, ONE
	MOVL         $7, AX
	VPBROADCASTQ AX, SEVEN
	MOVQ         $0x0101010101010101, AX // a bit for every eighth byte
	KMOVQ        AX, BYTE0

	// Lines to prefetch, of which the last few, fewer than a group takes, are Go's.
	MOVQ Seek_next(SEEK), NEXT
	MOVQ Seek_lines(SEEK), AHEAD
	MOVQ Seek_lines+8(SEEK), AX
	LEAQ -8*const_seekLines(AHEAD)(AX*8), AHEADEND

pass:
	XORL READ, READ                     // no lane read
	XORL WRITE, WRITE                   // none kept

group:
	MOVQ  LANES, CX                     // a bit for each lane that is left, 16 at most
	SUBQ  READ, CX
	MOVL  $-1, AX
	BZHIL CX, AX, AX
	KMOVB AX, LIVE                      // group A's
	KMOVB AX, SOUND                     // nothing is wrong yet
	SHRL  $8, AX                        // group B's
	KMOVB AX, LIVEB
	KMOVB AX, SOUNDB
	XORL  PAIR, PAIR

	// Group A's state, and its next 57 bits of code.
	VMOVDQU64   Seek_code(SEEK)(READ*8), CODE
	VMOVDQU64   Seek_remaining(SEEK)(READ*8), LEFT
	VMOVDQU64   Seek_key(SEEK)(READ*8), KEY0
	VMOVDQU64   Seek_raw(SEEK)(READ*8), T
	VMOVDQU64   Seek_query(SEEK)(READ*8), QUERY
	VMOVDQU64   Seek_high(SEEK)(READ*8), HIGH
	REFILL(LIVE, CODE, BITS)

	// One group alone, or a half that may end in this round?
	VMOVDQU64   Seek_remaining+64(SEEK)(READ*8), LEFTB
	VPTESTNMQ.BCST ·seekConst+48(SB), LEFT, LIVE, K1 // lanes with fewer keys than a round makes
	VPTESTNMQ.BCST ·seekConst+48(SB), LEFTB, LIVEB, K2
	CMPL        CX, $8                  // is there a group B?
	JLE         alone
	KORTESTB    K1, K2                  // and is no half about to end?
	JNZ         alone

	// Group B's state, and its next bits of code.
	INCL        PAIR
	VMOVDQU64   Seek_code+64(SEEK)(READ*8), X
	REFILL(LIVEB, X, BITSB)
	VMOVDQU64   Seek_key+64(SEEK)(READ*8), KEY0B
	VMOVDQU64   Seek_raw+64(SEEK)(READ*8), TB
	VMOVDQU64   Seek_query+64(SEEK)(READ*8), QUERYB
	VMOVDQU64   Seek_high+64(SEEK)(READ*8), HIGHB

	// Seven steps of both groups in turn: each hides the other's gathers.
	STEPA(KEY0, KEY1, a1, a1on)
	STEPB(KEY0B, KEY1B, b1, b1on)
	STEPA(KEY1, KEY0, a2, a2on)
	STEPB(KEY1B, KEY0B, b2, b2on)
	STEPA(KEY0, KEY1, a3, a3on)
	STEPB(KEY0B, KEY1B, b3, b3on)
	STEPA(KEY1, KEY0, a4, a4on)
	STEPB(KEY1B, KEY0B, b4, b4on)
	STEPA(KEY0, KEY1, a5, a5on)
	STEPB(KEY0B, KEY1B, b5, b5on)
	STEPA(KEY1, KEY0, a6, a6on)
	STEPB(KEY1B, KEY0B, b6, b6on)
	STEPA(KEY0, KEY1, a7, a7on)
	STEPB(KEY0B, KEY1B, b7, b7on)

stepped:
	// Those that wait, and have keys left: their next code is in the window.
	VPTESTNMQ    LAST, LAST, LIVE, K1   // no code in the last step,
	VPTESTMQ.BCST ·seekConst+40(SB), LEFT, K1, K1 // and keys left: their next code is looked up
	VPANDQ.BCST  ·seekConst+0(SB), BITS, A // the next 12 bits
	VPXORQ       E, E, E                // zeros where nothing is looked up
	KMOVB        K1, K2
	VPGATHERQQ   (WINDOW)(A*8), K2, E   // the window's entry
	VPSRLQ       $8, E, E               // its first position
	VPANDQ.BCST  ·seekConst+8(SB), E, E
	VPCMPUQ.BCST $2, ·seekConst+16(SB), E, SOUND, SOUND // a longer field may need nine bytes
	VMOVDQU64    Window_lengths(WINDOW), L // the lengths of all positions' codes
	VPERMB.Z     L, E, BYTE0, L         // the code's length
	VPSRLVQ      L, BITS, K1, BITS      // past it
	VMOVDQA64.Z  ONE, K1, D             // these make a key with their raw bits
	RAW(LIVE, T)
	CHANGE(KEY1, KEY0, T, LEFT, QUERY, LIVE, SOUND, d8, d8on)

	VMOVDQU64    Seek_code(SEEK)(READ*8), CODE // where the round began
	VPLZCNTQ     BITS, BITS             // zeros above the 1: how far the codes went
	VPADDQ       BITS, CODE, CODE       // the next code

	// SOUND: nothing is wrong. K1: of those, not at High. K2: of those, may go on.
	VPADDQ.BCST  ·seekConst+24(SB), T, A // the end of the raw bits
	VPCMPUQ      $2, A, CODE, SOUND, SOUND // codes must end before
	VPCMPUQ      $1, HIGH, KEY0, SOUND, K1 // below High
	VPCMPUQ      $2, T, CODE, K1, K2    // codes far enough from raw bits
	VPTESTMQ.BCST ·seekConst+40(SB), LEFT, K2, K2 // and keys left
	KXORB        SOUND, K1, K1          // sound, and at High: done
	KORB         K2, K1, K1             // or going on
	KXORB        LIVE, K1, K1           // the others of those under way
	KORTESTB     K1, K1                 // are any left to the caller?
	JNZ          gone

press:
	// The active lanes are written one after the other, over those that were read.
	KEEP(KEY0, Seek_key)
	KEEP(T, Seek_raw)
	KEEP(CODE, Seek_code)
	KEEP(LEFT, Seek_remaining)
	KEEP(QUERY, Seek_query)
	KEEP(HIGH, Seek_high)
	KMOVB   K2, AX                      // how many go on
	POPCNTL AX, AX
	ADDQ    AX, WRITE
	ADDQ    $8, READ                    // eight lanes further

	// Prefetch five lines of what is read next.
	CMPQ    AHEAD, AHEADEND             // are there five?
	JGT     ahead
	MOVQ    0(AHEAD), AX
	PREFETCHT0 (NEXT)(AX*1)
	MOVQ    8(AHEAD), AX
	PREFETCHT0 (NEXT)(AX*1)
	MOVQ    16(AHEAD), AX
	PREFETCHT0 (NEXT)(AX*1)
	MOVQ    24(AHEAD), AX
	PREFETCHT0 (NEXT)(AX*1)
	MOVQ    32(AHEAD), AX
	PREFETCHT0 (NEXT)(AX*1)
	ADDQ    $(8*const_seekLines), AHEAD

ahead:
	TESTL   PAIR, PAIR                  // is group B still to be dealt with?
	JNZ     second
	CMPQ    READ, LANES                 // another group?
	JLT     group

	MOVQ  WRITE, LANES                  // those that go on are the next pass's
	TESTQ LANES, LANES
	JZ    done
	DECQ  PASSES                        // so many passes a call
	JNZ   pass

done:
	// What the next call or the caller needs.
	MOVQ LANES, Seek_n(SEEK)
	MOVQ HITS, Seek_hits(SEEK)
	SUBQ Seek_lines(SEEK), AHEAD        // lines that were prefetched
	SHRQ $3, AHEAD
	MOVQ AHEAD, prefetched+32(FP)
	VZEROUPPER
	RET

second:
	XORL      PAIR, PAIR
	// Group B becomes group A: what follows is the same.
	VMOVDQA64 KEY1B, KEY1
	VMOVDQA64 TB, T
	VMOVDQA64 LEFTB, LEFT
	VMOVDQA64 QUERYB, QUERY
	VMOVDQA64 HIGHB, HIGH
	VMOVDQA64 BITSB, BITS
	VMOVDQA64 LASTB, LAST
	KMOVB     LIVEB, LIVE
	KMOVB     SOUNDB, SOUND
	JMP       stepped

alone:
	// Steps of one group, whose lanes may run out of keys.
	LASTSTEP(KEY0, KEY1, c1, c1on)
	LASTSTEP(KEY1, KEY0, c2, c2on)
	LASTSTEP(KEY0, KEY1, c3, c3on)
	LASTSTEP(KEY1, KEY0, c4, c4on)
	LASTSTEP(KEY0, KEY1, c5, c5on)
	LASTSTEP(KEY1, KEY0, c6, c6on)
	LASTSTEP(KEY0, KEY1, c7, c7on)
	JMP stepped

	HIT(a1, a1on, KEY1, LEFT, HIGH, SOUND)
	HIT(a2, a2on, KEY0, LEFT, HIGH, SOUND)
	HIT(a3, a3on, KEY1, LEFT, HIGH, SOUND)
	HIT(a4, a4on, KEY0, LEFT, HIGH, SOUND)
	HIT(a5, a5on, KEY1, LEFT, HIGH, SOUND)
	HIT(a6, a6on, KEY0, LEFT, HIGH, SOUND)
	HIT(a7, a7on, KEY1, LEFT, HIGH, SOUND)
	HIT(b1, b1on, KEY1B, LEFTB, HIGHB, SOUNDB)
	HIT(b2, b2on, KEY0B, LEFTB, HIGHB, SOUNDB)
	HIT(b3, b3on, KEY1B, LEFTB, HIGHB, SOUNDB)
	HIT(b4, b4on, KEY0B, LEFTB, HIGHB, SOUNDB)
	HIT(b5, b5on, KEY1B, LEFTB, HIGHB, SOUNDB)
	HIT(b6, b6on, KEY0B, LEFTB, HIGHB, SOUNDB)
	HIT(b7, b7on, KEY1B, LEFTB, HIGHB, SOUNDB)
	HIT(c1, c1on, KEY1, LEFT, HIGH, SOUND)
	HIT(c2, c2on, KEY0, LEFT, HIGH, SOUND)
	HIT(c3, c3on, KEY1, LEFT, HIGH, SOUND)
	HIT(c4, c4on, KEY0, LEFT, HIGH, SOUND)
	HIT(c5, c5on, KEY1, LEFT, HIGH, SOUND)
	HIT(c6, c6on, KEY0, LEFT, HIGH, SOUND)
	HIT(c7, c7on, KEY1, LEFT, HIGH, SOUND)
	HIT(d8, d8on, KEY0, LEFT, HIGH, SOUND)

gone:
	// A 1 in the number of keys left tells those that are not sound from those whose half ended.
	KXORB       LIVE, SOUND, SOUND      // those under way that are not sound
	VPORQ       ONE, LEFT, SOUND, LEFT  // odd: something is wrong
	MOVQ        Seek_unfinished(SEEK), AX
	VPCOMPRESSQ LEFT, K1, X             // number of the probe, and keys left
	VMOVDQU64   X, Seek_unfinishedIDs(SEEK)(AX*8) // to the list of those that are gone
	KMOVB       K1, CX                  // how many
	POPCNTL     CX, CX
	ADDQ        CX, AX
	MOVQ        AX, Seek_unfinished(SEEK)
	JMP         press
