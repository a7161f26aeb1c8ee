// Look-ups of Huffman codes, of the kernels of halves (decode_amd64.h), which say what WINDOW, HIGHER and SUM are.
//
// BITS holds the next COUNT bits of code, and above them bits that the next refill will
// OR in again. A refill reads at NEXT, which the refill before fixed, so its load is not
// on the critical path; NEXT moves by whole bytes (F. Giesen, "Reading bits in far too
// many ways", part 2, variant 4). The bit position of the next code is always
// 8*NEXT - COUNT, counted from the half's beginning.
//
// A look-up: index, load, shift: 7 cycles of latency, the only chain there is. The length
// needs no masking: SHRX looks at the low six bits of the entry. The refill happens
// between the first look-up's load and its shift, in the shadow of the load: 56 bits or
// more then, less three look-ups of 12, leave 20 for the next first one.
//
// Three entries are summed before their lengths are taken off: lengths sum to at most 36
// in byte 0, symbols to 189 in each of bytes 1-6, so no byte carries into the next.

// ROUND is three look-ups. REFILL is the address of the eight bytes at NEXT, AT that of the next symbol; OUT, which AT
// goes by, moves after the symbols. It uses AX and BX.
#define ROUND(BITS, COUNT, NEXT, REFILL, AT, OUT) \
	ANDNL BITS, HIGHER, AX     \ // the first look-up: the next 12 bits
	MOVQ  (WINDOW)(AX*8), SUM  \ // their entry
	MOVQ  REFILL, BX           \ // the refill: eight bytes, above the bits that there are
	SHLXQ COUNT, BX, BX        \
	ORQ   BX, BITS             \
	MOVL  $63, AX              \ // NEXT += (63 - COUNT) / 8: past the whole bytes that fit
	SUBQ  COUNT, AX            \
	SHRQ  $3, AX               \
	ADDQ  AX, NEXT             \
	ORQ   $56, COUNT           \ // 56 to 63 bits now
	SHRXQ SUM, BITS, BITS      \ // the first look-up ends: past its codes, whose length is in the entry's low six bits
	MOVQ  SUM, BX              \
	PUT(AT, OUT)               \
	LOOKUP(BITS, AT, OUT)      \ // the second
	LOOKUP(BITS, AT, OUT)      \ // the third
	MOVBLZX SUM, SUM           \ // COUNT -= the bits that the three took
	SUBQ  SUM, COUNT

#define LOOKUP(BITS, AT, OUT) \
	ANDNL BITS, HIGHER, AX   \
	MOVQ  (WINDOW)(AX*8), BX \
	SHRXQ BX, BITS, BITS     \
	ADDQ  BX, SUM            \ // lengths and counts add up
	PUT(AT, OUT)

// PUT stores the symbols of the entry in BX.
#define PUT(AT, OUT) \
	SHRQ $8, BX  \ // its symbols, in one store of which some bytes are too many
	MOVQ BX, AT  \
	SHRQ $48, BX \ // how many they are
	ADDQ BX, OUT
