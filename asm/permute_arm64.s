//go:build !purego

#include "textflag.h"

// permuteNEON: 16 bytes of result, two keys, in eight steps. Step i makes bit i of every byte: a
// table look-up fetches the source byte that holds it, a test spreads its bit over the byte, and a
// shift with insert puts it at bit i and leaves the bits below as they are.
//
//	VTBL    FROMi, key    source byte of bit i          0 1 1 0 1 0 0 1
//	VCMTST  TESTi         all ones if the bit is set    1 1 1 1 1 1 1 1
//	VSLI    $i            bit i and above from there    1 1 1 1 1 r r r   (i = 3)
//
// Counted, not timed: 23 vector instructions for two keys, and 5 for the load, the store and the loop
// of four: 12.75 a key, where the Go twin's eight tables take 47, nine of them loads. The chain
// through a key is a look-up, a test and seven inserts, 18 cycles, and chains of different keys do
// not depend on each other. With two vector pipes (Neoverse N1) that makes 6 cycles a key, with four
// (V1, Apple M) 3; the twin needs 12 where four instructions start in a cycle, and 16 KiB of the
// first-level cache.
//
// The other way, transposing the bits of eight keys into 64 rows, moving rows and transposing back,
// takes 14 a key, most of them shifts, for which there are only half of the pipes.

#define DST  R0 // permuted keys
#define SRC  R1 // keys
#define LEFT R2 // keys to go; in the loop of four, less four
#define PLAN R3 // the picks: eight registers of bytes, eight of tests

// PICK sets bit i of the bytes of a and b, for the keys in V16 and V17.
#define PICK(i, from, test) \
	VTBL   from.B16, [V16.B16], V20.B16 \ // the source bytes
	VTBL   from.B16, [V17.B16], V21.B16 \
	VCMTST test.B16, V20.B16, V20.B16   \ // all ones if their bits are set
	VCMTST test.B16, V21.B16, V21.B16   \
	VSLI   $i, V20.B16, V18.B16         \ // to bit i and above
	VSLI   $i, V21.B16, V19.B16

// func permuteNEON(dst, src *uint64, n int, p *picks)
TEXT ·permuteNEON(SB), NOSPLIT, $0-32
	// The arguments, and the permutation in 16 registers.
	MOVD   dst+0(FP), DST
	MOVD   src+8(FP), SRC
	MOVD   n+16(FP), LEFT
	MOVD   p+24(FP), PLAN
	VLD1.P 64(PLAN), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(PLAN), [V4.B16, V5.B16, V6.B16, V7.B16]
	VLD1.P 64(PLAN), [V8.B16, V9.B16, V10.B16, V11.B16]
	VLD1   (PLAN), [V12.B16, V13.B16, V14.B16, V15.B16]
	SUBS   $4, LEFT                     // four keys?
	BLT    rest

four:
	VLD1.P 32(SRC), [V16.B16, V17.B16]  // four keys

	// Step 0 has nothing to insert into.
permute:
	VTBL   V0.B16, [V16.B16], V18.B16   // bit 0: the source bytes
	VTBL   V0.B16, [V17.B16], V19.B16
	VCMTST V8.B16, V18.B16, V18.B16     // all ones if their bits are set
	VCMTST V8.B16, V19.B16, V19.B16
	PICK(1, V1, V9)
	PICK(2, V2, V10)
	PICK(3, V3, V11)
	PICK(4, V4, V12)
	PICK(5, V5, V13)
	PICK(6, V6, V14)
	PICK(7, V7, V15)
	TBNZ   $63, LEFT, store             // a rest is stored by itself
	VST1.P [V18.B16, V19.B16], 32(DST)  // four permuted keys
	SUBS   $4, LEFT
	BGE    four

rest:
	// One to three keys, LEFT-(-4), through the same steps.
	CMN   $4, LEFT
	BEQ   done
	FMOVD (SRC), F16
	CMN   $2, LEFT
	BLT   permute               // one
	FMOVQ (SRC), F16
	BEQ   permute               // two
	FMOVD 16(SRC), F17          // three
	B     permute

store:
	CMN   $2, LEFT                      // one, two or three?
	BLT   first
	FMOVQ F18, (DST)
	BEQ   done
	FMOVD F19, 16(DST)

done:
	RET

first:
	FMOVD F18, (DST)
	RET
