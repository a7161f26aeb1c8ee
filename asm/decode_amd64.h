// Stage 1 of decoding, shared by decodeAVX512 and decodeAVX2: codes to symbols.
//
// How many rounds of three look-ups a chunk takes is foretold from the number of symbols and the
// window's pace, with a few to spare: so the branch that ends the loop, and those after it, are
// resolved far ahead of the chain, and if one of them was mispredicted that costs little. Too few symbols, or
// too many for the room, are seldom.

#include "decode_round_amd64.h"

#define DST     DI  // the next key goes here
#define HALF    SI  // half a block
#define WINDOW  R8  // the entries
#define HIGHER  R9  // all bits but the window's 12
#define CODEBIT R10 // bit of the next code, between chunks
#define LAST    R11 // last byte at which eight can be read
#define NEXT    R12 // byte of the next refill
#define WANT    R13 // symbols of this chunk
#define POS     DX  // symbols so far
#define BITS    CX  // the next bits of code
#define COUNT   R15 // how many of them count
#define SUM     R14 // the three entries of a round, summed

#define ROUNDS  R10 // to go, while NEXT and COUNT stand for CODEBIT

// The symbols lie on the stack, decodeChunk bytes and 64 that look-ups write past it (16 + 3*6 symbols and the rest
// of the last store), the number of keys still to make,
// and of the symbols of a chunk how many there are and how many should be.
#define SYMBOLS symbols-320(SP)
#define LEFT    left-328(SP)
#define FOUND   found-336(SP)
#define WANTED  wanted-344(SP)

// STAGE1 makes WANT symbols and maybe some more, which it gives back after a whole chunk; or jumps
// to other when codes come near the half's last bytes.
#define STAGE1(loop, enough, surplus, given, other) \
	XORL  POS, POS                        \ // no symbols yet
	MOVQ  CODEBIT, NEXT                   \ // the byte of the next code
	SHRQ  $3, NEXT                        \
	CMPQ  NEXT, LAST                      \ // eight bytes must follow it
	JHI   other                           \
	MOVQ  (HALF)(NEXT*1), BITS            \ // its bits, from the code's first on
	ANDL  $7, CODEBIT                     \
	SHRXQ CODEBIT, BITS, BITS             \
	MOVL  $56, COUNT                      \ // COUNT: 49 to 56 of them
	SUBQ  CODEBIT, COUNT                  \
	ADDQ  $7, NEXT                        \ // the next refill reads after them
	MOVQ  WANT, WANTED                    \ // for SURPLUS
	LEAQ  const_decodeSpare(WANT), ROUNDS \ // ROUNDS = (symbols and some to spare) * pace: the forecast
	IMULQ Window_pace(WINDOW), ROUNDS     \
	SHRQ  $16, ROUNDS                     \
	INCQ  ROUNDS                          \
loop:                                     \
	CMPQ  NEXT, LAST                      \ // can eight bytes be read?
	JHI   other                           \
	ROUND(BITS, COUNT, NEXT, (HALF)(NEXT*1), SYMBOLS(POS*1), POS) \
	LEAQ  -16(POS), AX                    \ // is there room for another three entries' symbols?
	CMPQ  AX, WANT                        \
	JGE   enough                          \
	DECQ  ROUNDS                          \
	JNZ   loop                            \
	INCQ  ROUNDS                          \ // the forecast was short: one round more
	CMPQ  POS, WANT                       \
	JLT   loop                            \
enough:                                   \
	LEAQ  (NEXT*8), CODEBIT               \ // CODEBIT = 8*NEXT - COUNT
	SUBQ  COUNT, CODEBIT                  \
	CMPQ  WANT, $const_decodeChunk        \ // only a whole chunk has a next one, which begins after WANT symbols
	JNE   given                           \
	SURPLUS(surplus, given)               \
	MOVQ  POS, FOUND                        // for the last comparison

// SURPLUS gives symbols back until there are WANT.
#define SURPLUS(surplus, given) \
surplus:                                     \
	CMPQ  POS, WANT                          \ // as many as there should be?
	JEQ   given                              \
	MOVBLZX symbols-321(SP)(POS*1), AX       \ // the last symbol
	MOVBLZX Window_lengths(WINDOW)(AX*1), AX \ // the length of its code
	SUBQ  AX, CODEBIT                        \ // the next code is that much before
	DECQ  POS                                \
	JMP   surplus                            \
given:
