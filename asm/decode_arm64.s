//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// decodeNEON: decodeGeneric, a chunk of 256 symbols at a time, in three stages.
//
// Stage 1, codes to symbols. BITS holds the next COUNT bits of code, and above them bits that the
// next refill will OR in again. A refill reads at NEXT, which the refill before fixed, so its load is
// not on the critical path; NEXT moves by whole bytes (F. Giesen, "Reading bits in far too many
// ways", part 2, variant 4). The bit of the next code is always 8*NEXT - COUNT. The refill is
// between the first look-up's load and its shift: 56 bits or more then, less three look-ups of 12,
// leave 20 for the next first one. LSR looks at the low six bits of an entry, its length, by itself.
// Three entries are summed before their lengths are taken off: 36 at most.
//
// Stage 2, on vectors of 16 symbols: their sum and the largest. The sum says before any raw bits are
// read whether every field of 57 bits begins in the half; else it is left to the generic form.
//
// Stage 3, symbols to keys:
//
//	t    = rawBit - 57             the lowest bit of a 57-bit field that ends where raw ends; 0 or more
//	v    = 8 bytes at t>>3         ends with the byte in which raw ends
//	v  <<= ~t & 7                  raw's top bit is the top bit of v
//	key ^= (v>>1 | 1<<63) >> ~h    1<<h | raw, if h <= 57; the shift counts modulo 64
//	t   -= h
//
// Whether keys ascend is kept in the flags: each comparison is made if the one before held (CCMP),
// and nothing in the loop changes flags otherwise.
//
// Counted, not timed, for 3.5 symbols a look-up: stage 1 takes 11 instructions a look-up, refill and
// loop included, 3.1 a key; stage 2 0.3; stage 3 12.3: 15.7 a key, three of them loads or stores. The
// Go twin takes 40: 19 a look-up, as its eight bytes of symbols are stored in parts, and 34 a key.
// Chains: 6 cycles a look-up (index, load, shift: 1 + 4 + 1 on Neoverse N1), 1.7 a key, and one EOR,
// one SUB and one CCMP a key, 1 cycle each. Where four instructions start in a cycle that makes 4 to
// 5 cycles a key. Vectors would not help stage 3: there is no gather, so each load goes through a
// lane of its own, and a prefix XOR by VEXT and VEOR takes 1.5 instructions a key, the EOR here one.

#define DST     R0  // address of the next key
#define HALF    R1  // half a block
#define WINDOW  R2  // the entries
#define CODEBIT R3  // bit of the next code, between chunks
#define LAST    R4  // last byte at which eight can be read
#define NEXT    R5  // byte of the next refill
#define WANT    R6  // symbols of this chunk
#define POS     R7  // symbols so far
#define BITS    R8  // the next bits of code
#define COUNT   R9  // how many of them count
#define SUM     R10 // the three entries of a round, summed
#define SYMBOLS R11 // 288 bytes: decodeChunk, and 32 that three look-ups may write past it
#define T0      R12 // scratch
#define T1      R13 // scratch
#define LEFT    R14 // keys left after this chunk
#define T       R15 // see above
#define K0      R16 // the last key
#define K1      R17 // keys take turns in four registers
#define K2      R19
#define K3      R20
#define TOP     R21 // 1<<63
#define SEVEN   R22 // 7
#define SYMBOL  R23 // the next, in stages 2 and 3

#define MOST V4 // the largest h, by byte
#define SUMS V5 // the sums of h, by 16 bits

// PUT stores the symbols of an entry.
#define PUT(entry) \
	LSR  $8, entry, T0      \ // the entry's symbols, in one store with some extra bytes
	MOVD T0, (SYMBOLS)(POS) \
	ADD  entry>>56, POS       // how many they are

#define LOOKUP \
	UBFX $0, BITS, $12, T0   \ // the next 12 bits
	MOVD (WINDOW)(T0<<3), T1 \ // their entry
	LSR  T1, BITS, BITS      \ // past the codes
	ADD  T1, SUM             \ // lengths and counts add up
	PUT(T1)

// KEY makes one of the symbol at SYMBOL.
#define KEY(from, to) \
	MOVBU.P 1(SYMBOL), T0 \ // h
	LSR  $3, T, T1        \ // v
	MOVD (HALF)(T1), to   \
	BIC  T, SEVEN, T1     \ // ~t & 7
	LSL  T1, to, to       \ // the raw bits at the top
	ORR  to>>1, TOP, to   \ // a 1 above them
	SUB  T0, T            \ // t of the next key
	MVN  T0, T0           \ // ~h
	LSR  T0, to, to       \ // d = 1<<h | raw
	EOR  from, to, to     \ // the key
	CCMP HI, to, from, $0   // greater than the one before, and so were all

// func decodeNEON(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int
TEXT ·decodeNEON(SB), 0, $288-56
	// The arguments.
	MOVD dst+0(FP), DST
	MOVD n+8(FP), LEFT
	MOVD half+16(FP), HALF
	MOVD halfBytes+24(FP), LAST         // the last byte at which eight can be read
	SUB  $8, LAST
	MOVD w+32(FP), WINDOW
	MOVD c+40(FP), T0                  // the cursor
	MOVD cursor_codeBit(T0), CODEBIT
	MOVD cursor_rawBit(T0), T
	SUB  $57, T                         // T of the first key
	MOVD cursor_key(T0), K0
	// Constants.
	MOVD $symbols-288(SP), SYMBOLS
	MOVD $(1<<63), TOP
	MOVD $7, SEVEN

chunk:
	MOVD $const_decodeChunk, WANT       // decodeChunk, or the rest
	CMP  WANT, LEFT
	CSEL LO, LEFT, WANT, WANT
	SUB  WANT, LEFT                     // subtract this chunk

	// Stage 1.
	MOVD ZR, POS                        // no symbols yet
	LSR  $3, CODEBIT, NEXT              // the byte of the next code
	CMP  LAST, NEXT                     // eight bytes must follow it
	BHI  other
	MOVD (HALF)(NEXT), BITS             // its bits
	AND  $7, CODEBIT, T0                // from the code's first on
	LSR  T0, BITS, BITS
	MOVD $56, COUNT                     // 49 to 56 of them
	SUB  T0, COUNT
	ADD  $7, NEXT                       // the next refill reads after them

codes:
	CMP  LAST, NEXT                     // can eight bytes be read?
	BHI  other
	UBFX $0, BITS, $12, T0              // the first look-up: the next 12 bits
	MOVD (WINDOW)(T0<<3), SUM           // their entry
	MOVD (HALF)(NEXT), T1               // the refill: eight bytes, above the bits that there are
	LSL  COUNT, T1, T1
	ORR  T1, BITS
	EOR  $63, COUNT, T0           // 63 - COUNT
	ADD  T0>>3, NEXT                    // past the whole bytes that fit
	ORR  $56, COUNT                     // 56 to 63 bits now
	LSR  SUM, BITS, BITS                // the first look-up ends: past its codes
	PUT(SUM)                            // its symbols
	LOOKUP                              // the second
	LOOKUP                              // the third
	AND  $255, SUM                      // the bits that the three took
	SUB  SUM, COUNT
	CMP  WANT, POS                      // enough symbols?
	BLT  codes
	LSL  $3, NEXT, CODEBIT              // CODEBIT = 8*NEXT - COUNT
	SUB  COUNT, CODEBIT
	ADD  SYMBOLS, POS, SYMBOL     // end of the symbols
	ADD  SYMBOLS, WANT, T1              // the end of WANT symbols

surplus:
	// Give back the symbols that were too many.
	CMP     T1, SYMBOL                  // as many as there should be?
	BEQ     sums
	MOVBU.W -1(SYMBOL), T0              // the last symbol
	ADD     WINDOW, T0
	MOVBU   Window_lengths(T0), T0      // the length of its code
	SUB     T0, CODEBIT                 // the next code is that much before
	B       surplus

sums:
	// Stage 2. The symbols to the next multiple of 32 become zeros.
	VEOR MOST.B16, MOST.B16, MOST.B16   // none yet
	VEOR SUMS.B16, SUMS.B16, SUMS.B16
	VST1 [MOST.B16, SUMS.B16], (T1)     // zeros after the symbols
	MOVD SYMBOLS, SYMBOL
	MOVD WANT, T0

sum:
	VLD1.P 32(SYMBOL), [V0.B16, V1.B16] // 32 symbols
	VUMAX  V0.B16, MOST.B16, MOST.B16   // the largest
	VUMAX  V1.B16, MOST.B16, MOST.B16
	WORD   $0x6e206805            // UADALP V0.B16, V5.H8: at most 2*63 eight times
	WORD   $0x6e206825            // UADALP V1.B16, V5.H8
	SUBS   $32, T0                      // the next 32
	BGT    sum
	VUADDLV SUMS.H8, V0                 // the sum
	FMOVS   F0, T1
	SUB     T1, T, T1                   // T of the last key
	TBNZ    $63, T1, other        // raw bits before the half's first eight bytes
	WORD    $0x6e30a884           // UMAXV V4.B16, B4
	FMOVS   F4, T1                      // the largest
	CMP     $57, T1                     // a longer field may need nine bytes
	BHI     other

	// Stage 3, from the comparison of 1<<63 with 0, which holds.
	MOVD SYMBOLS, SYMBOL
	CMP  $0, TOP
	SUB  $4, WANT                       // four keys a round
	TBNZ $63, WANT, rest

four:
	// Four keys, the last in K0 again.
	KEY(K0, K1)
	KEY(K1, K2)
	STP.P (K1, K2), 16(DST)
	KEY(K2, K3)
	KEY(K3, K0)
	STP.P (K3, K0), 16(DST)
	SUB  $4, WANT
	TBZ  $63, WANT, four

rest:
	ADD  $4, WANT                       // 0 to 3 are left
	CBZ  WANT, ascend

one:
	KEY(K0, K1)                         // one key
	MOVD   K1, K0
	MOVD.P K0, 8(DST)
	SUB    $1, WANT
	CBNZ   WANT, one

ascend:
	BLS  corrupt                        // some key did not ascend
	CBNZ LEFT, chunk                    // more keys: another chunk

	// Codes end before raw bits begin.
	ADD  $57, T                         // where the raw bits of a next key end
	CMP  CODEBIT, T                     // codes must end before
	BLT  corrupt
	MOVD c+40(FP), T0                  // cursor for the next call
	MOVD CODEBIT, cursor_codeBit(T0)
	MOVD T, cursor_rawBit(T0)
	MOVD K0, cursor_key(T0)
	MOVD $const_decodeDone, T0          // all is well
	MOVD T0, ret+48(FP)
	RET

corrupt:
	MOVD $const_decodeCorrupt, T0       // the block is damaged
	MOVD T0, ret+48(FP)
	RET

other:
	MOVD $const_decodeOther, T0         // the generic form decides
	MOVD T0, ret+48(FP)
	RET
