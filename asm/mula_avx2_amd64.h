// The population count of bytes with AVX2: each half of a byte is looked up in a
// table of 16 counts (Mula). The caller keeps the table and the mask in registers.

DATA nibbleCounts<>+0(SB)/8, $0x0302020102010100
DATA nibbleCounts<>+8(SB)/8, $0x0403030203020201
DATA nibbleCounts<>+16(SB)/8, $0x0302020102010100
DATA nibbleCounts<>+24(SB)/8, $0x0403030203020201
GLOBL nibbleCounts<>(SB), RODATA|NOPTR, $32

#define TABLE Y15 // nibbleCounts
#define NIBS  Y14 // 0x0f in every byte

#define LOAD_TABLE(r, x) \
	MOVL         $0x0f0f0f0f, r            \
	VMOVD        r, x                      \
	VPBROADCASTD x, NIBS                   \
	VMOVDQU      nibbleCounts<>(SB), TABLE

// Replaces the bytes of y by their counts; t is clobbered.
#define COUNT_BYTES(y, t) \
	VPAND   NIBS, y, t  \
	VPSRLW  $4, y, y    \
	VPAND   NIBS, y, y  \
	VPSHUFB t, TABLE, t \
	VPSHUFB y, TABLE, y \
	VPADDB  t, y, y
