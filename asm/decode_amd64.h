// Stage 1 of decoding, shared by decodeAVX512 and decodeAVX2: codes to symbols.
//
// BITS holds the next COUNT (56..63 after a refill) bits of code, and above them bits that
// the next refill will OR in again. A refill reads at NEXT, which the refill before
// fixed, so the load is not on the critical path; NEXT moves by whole bytes
// (F. Giesen, "Reading bits in far too many ways", part 2, variant 4). The bit
// position of the next code is always 8*NEXT - COUNT, counted from the block.
//
// A look-up: index, load, shift, 7 cycles of latency, the only chain there is. The
// length needs no masking: SHRX looks at the low six bits of the entry.
//
// Four entries are summed before their lengths are taken off: lengths sum to at most 48
// in byte 0, symbols to 252 in each of bytes 1-6, so no byte carries into the next.

#define DST     DI
#define BLOCK   SI
#define WINDOW  R8
#define LEFT    R9  // keys still to make
#define CODEBIT R10 // bit of the next code when no refill is under way
#define LAST    R11 // last byte at which eight can be read
#define NEXT    R12
#define WANT    R13 // symbols of this chunk
#define POS     DX  // symbols so far
#define BITS    CX
#define COUNT   R15
#define SUM     R14

// The symbols lie on the stack: decodeChunk and decodeSlack bytes.
#define SYMBOLS symbols-288(SP)

#define LOOKUP \
	MOVL  BITS, AX           \
	ANDL  $4095, AX          \
	MOVQ  (WINDOW)(AX*8), BX \
	SHRXQ BX, BITS, BITS     \
	ADDQ  BX, SUM            \
	MOVQ  BX, AX             \
	SHRQ  $8, AX             \
	MOVQ  AX, SYMBOLS(POS*1) \
	SHRQ  $56, BX            \
	ADDQ  BX, POS

// STAGE1 makes WANT symbols, or jumps to other when a code could lie in the block's last eight bytes.
#define STAGE1(loop, begin, surplus, given, other) \
	XORL  POS, POS              \
	MOVQ  CODEBIT, NEXT         \
	SHRQ  $3, NEXT              \
	CMPQ  NEXT, LAST            \
	JHI   other                 \
	MOVQ  (BLOCK)(NEXT*1), BITS \
	MOVQ  CODEBIT, AX           \
	ANDL  $7, AX                \
	SHRXQ AX, BITS, BITS        \
	MOVL  $64, COUNT            \
	SUBQ  AX, COUNT             \
	ADDQ  $8, NEXT              \
	JMP   begin                 \
loop:                           \
	CMPQ  NEXT, LAST            \
	JHI   other                 \
	MOVQ  (BLOCK)(NEXT*1), AX   \
	SHLXQ COUNT, AX, AX         \
	ORQ   AX, BITS              \
	MOVL  $63, AX               \
	SUBQ  COUNT, AX             \
	SHRQ  $3, AX                \
	ADDQ  AX, NEXT              \
	ORQ   $56, COUNT            \
begin:                          \
	XORL  SUM, SUM              \
	LOOKUP                      \
	LOOKUP                      \
	LOOKUP                      \
	LOOKUP                      \
	MOVBLZX SUM, SUM            \
	SUBQ  SUM, COUNT            \
	CMPQ  POS, WANT             \
	JLT   loop                  \
	LEAQ  (NEXT*8), CODEBIT     \
	SUBQ  COUNT, CODEBIT        \
surplus:                        \
	CMPQ  POS, WANT             \
	JEQ   given                 \
	MOVBLZX symbols-289(SP)(POS*1), AX \
	MOVBLZX 32768(WINDOW)(AX*1), AX \
	SUBQ  AX, CODEBIT           \
	DECQ  POS                   \
	JMP   surplus               \
given:
