//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarScanAVX512 looks at up to 32 elements a step, which is a whole extent as a
// rule: they lie on one line of 64 bytes or on two neighbours, both of which are
// loaded, aligned and under a mask. An unaligned load would fetch the next line
// too, mask or no mask, for two extents in three in vain: that made a probe twice as
// slow. Where one line holds them all it is loaded twice.
//
//	           line              line + 64
//	|......aaaaaaaaaaaaaaaa|aaaaa...................|
//	 offset                          mask = (1<<n - 1) << offset, 32 bits for each line
//
// No branch depends on where an extent lies. AVX-512 masks a load's faults too.

#define EXTENT    SI // the next extent
#define PROBES DI    // all probes
#define LEFT   R15   // extents to go, this one included
#define LOW    R10   // the low bits of all keys
#define KEYS   R11   // how many there are
#define DST    BX    // address of the next hit
#define ROOM   R14   // hits that dst can still take
#define LINE   R8    // address of the next element's line
#define LEN    R9    // elements of the extent to go
#define POS    R13   // rank of the next element, then of the first on its line
#define NUMBER R12   // of the probe
#define T0     AX    // scratch
#define BITS   CX    // a bit for each of 64 elements of two lines
#define OFFSET DX    // elements on the line before the next

#define VQ   Z1 // low bits of the probe's key in every lane
#define VLIM Z2 // its limit in every lane

// func planarScanAVX512(dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable) (hits, done int)
TEXT ·planarScanAVX512(SB), NOSPLIT, $0-96
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), ROOM
	MOVQ extents_base+24(FP), EXTENT
	MOVQ extents_len+32(FP), LEFT
	MOVQ probes_base+48(FP), PROBES
	MOVQ p+72(FP), AX
	MOVQ PlanarTable_Low(AX), LOW
	MOVQ PlanarTable_Keys(AX), KEYS
	TESTQ LEFT, LEFT
	JZ   done

	PCALIGN $32
extent:
	// Start <= Keys && Len <= Keys-Start && Len <= PlanarLongest && Len <= ROOM, and there is such a probe
	MOVQ PlanarExtent_Start(EXTENT), POS      // the extent
	MOVL PlanarExtent_Len(EXTENT), LEN
	MOVL PlanarExtent_Probe(EXTENT), NUMBER
	MOVQ KEYS, T0                       // keys after its start
	SUBQ POS, T0
	JCS  done
	CMPQ LEN, T0                        // is the extent within them?
	JHI  done
	CMPQ LEN, ROOM                      // is there room for it?
	JHI  done
	CMPQ LEN, $const_PlanarLongest
	JHI  done
	CMPQ NUMBER, probes_len+56(FP)      // is there its probe?
	JCC  done
	MOVQ NUMBER, T0
	SHLQ $4, T0                           // PlanarProbe has 16 bytes
	VPBROADCASTW PlanarProbe_Key(PROBES)(T0*1), VQ // the query
	VPBROADCASTW PlanarProbe_Limit(PROBES)(T0*1), VLIM // and how near it must be

step:
	LEAQ (LOW)(POS*2), LINE             // the next element
	MOVL LINE, OFFSET
	ANDQ $~63, LINE                     // its line
	ANDL $63, OFFSET                    // its place there
	SHRL $1, OFFSET
	// The mask of min(LEN, 32) elements from OFFSET on; BZHI looks at eight bits of
	// its count, so that a longer LEN is cut first.
	MOVL $32, T0                        // min(LEN, 32) elements
	CMPQ LEN, T0
	CMOVQCS LEN, T0
	SUBQ T0, LEN                        // subtract this chunk
	MOVQ $-1, BITS                      // a bit for each, from its place on: 32 of each line
	BZHIQ T0, BITS, BITS
	SHLXQ OFFSET, BITS, BITS
	KMOVD BITS, K1                      // those of the first line
	SHRQ $32, BITS                      // and those of the second
	KMOVD BITS, K2
	// The second line, if the mask has any of it.
	NEGL BITS                           // -1 if there are any
	SBBQ BITS, BITS
	ANDL $64, BITS                      // the second line, or the first again
	VMOVDQU16.Z (LINE), K1, Z3          // the elements, zeros elsewhere
	VMOVDQU16.Z (LINE)(BITS*1), K2, Z4
	VPXORD VQ, Z3, Z3                   // the bits that differ
	VPXORD VQ, Z4, Z4
	VPOPCNTW Z3, Z3                     // how many
	VPOPCNTW Z4, Z4
	VPCMPUW $2, VLIM, Z3, K1, K3        // within the limit
	VPCMPUW $2, VLIM, Z4, K2, K4
	KORTESTD K3, K4                     // any hit?
	JNZ  hits

stepped:
	TESTQ LEN, LEN                      // is there more of the extent?
	JNZ  more

	ADDQ $PlanarExtent__size, EXTENT          // the next extent
	DECQ LEFT
	JNZ  extent

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $4, DST                          // PlanarHit has 16 bytes
	MOVQ DST, hits+80(FP)               // hits
	MOVQ extents_len+32(FP), T0            // done extents
	SUBQ LEFT, T0
	MOVQ T0, done+88(FP)
	VZEROUPPER
	RET

more:
	ADDQ $32, POS                       // the next 32 elements
	JMP  step

hits:
	KUNPCKDQ K3, K4, K3                 // the hits of both lines
	KMOVQ K3, BITS
	SUBQ OFFSET, POS                    // the rank of the first line's first element

hit:
	TZCNTQ BITS, T0                     // the first hit
	ADDQ POS, T0                        // its rank
	MOVQ T0, PlanarHit_Pos(DST)         // write it
	MOVQ NUMBER, PlanarHit_Probe(DST)
	ADDQ $PlanarHit__size, DST
	DECQ ROOM                           // so much less room
	LEAQ -1(BITS), T0                   // without its bit
	ANDQ T0, BITS
	JNZ  hit
	ADDQ OFFSET, POS                    // the next element's rank again
	JMP  stepped
