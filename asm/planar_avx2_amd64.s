//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "mula_avx2_amd64.h"

// planarScanAVX2 looks at 16 elements a register. The last register of an extent may
// hold elements after the extent, which are still within Low (PlanarPad); their
// bits are dropped from the mask of hits.

#define EXTENT    SI // the next extent
#define PROBES DI    // all probes
#define LEFT   R15   // extents to go, this one included
#define LOW    R10   // the low bits of all keys
#define KEYS   R11   // how many there are
#define DST    BX    // address of the next hit
#define ROOM   R14   // hits that dst can still take
#define PTR    R8    // next elements
#define LEN    R9    // remaining elements of the extent; negative: after its end
#define POS    R13   // rank of the next elements
#define NUMBER R12   // of the probe
#define T0     AX    // scratch
#define T1     DX    // scratch
#define BITS   CX    // two for each of 16 elements

#define VQ    Y0 // low bits of the probe's key in every lane
#define VLIM  Y1 // its limit in every lane
#define BYTES Y2 // 1 in every byte

// func planarScanAVX2(dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable) (hits, done int)
TEXT ·planarScanAVX2(SB), NOSPLIT, $0-96
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
	LOAD_TABLE(T0, X3)                  // the popcount by table
	VPCMPEQD Y3, Y3, Y3                 // all ones is -1, whose magnitude is 1
	VPABSB Y3, BYTES

	PCALIGN $32
extent:
	// Start <= Keys && Len <= Keys-Start && Len <= PlanarLongest && Len <= ROOM, and there is such a probe
	MOVQ PlanarExtent_Start(EXTENT), POS      // the extent
	MOVL PlanarExtent_Len(EXTENT), LEN
	MOVL PlanarExtent_Probe(EXTENT), NUMBER
	MOVQ KEYS, T0                       // keys after its start
	SUBQ POS, T0
	JCS  done
	CMPQ LEN, T0
	JHI  done
	CMPQ LEN, ROOM
	JHI  done
	CMPQ LEN, $const_PlanarLongest
	JHI  done
	LEAQ (LOW)(POS*2), PTR
	CMPQ NUMBER, probes_len+56(FP)
	JCC  done
	MOVQ NUMBER, T0
	SHLQ $4, T0                           // PlanarProbe has 16 bytes
	VPBROADCASTW PlanarProbe_Key(PROBES)(T0*1), VQ // the query
	VPBROADCASTW PlanarProbe_Limit(PROBES)(T0*1), VLIM // and how near it must be
	JMP  more

step:
	VPXOR (PTR), VQ, Y3                 // the bits that differ
	COUNT_BYTES(Y3, Y4)                 // counted by byte
	VPMADDUBSW BYTES, Y3, Y3            // by element
	VPMAXUB VLIM, Y3, Y3                  // both below 256
	VPCMPEQW VLIM, Y3, Y3                 // count <= limit
	VPMOVMSKB Y3, BITS                  // two bits an element
	// Two bits for each element of the extent.
	LEAQ (LEN)(LEN*1), T0               // two for each element that is left
	MOVL $32, T1                        // but no more than there are
	CMPQ T0, T1
	CMOVQHI T1, T0
	BZHIL T0, BITS, BITS                // what is after the extent is dropped
	SUBQ $16, LEN                       // subtract this chunk
	TESTL BITS, BITS                    // any hit?
	JNZ  hits

stepped:
	ADDQ $32, PTR                       // the next elements
	ADDQ $16, POS

more:
	TESTQ LEN, LEN                      // any left?
	JGT  step

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

hits:
	ANDL $0x55555555, BITS              // one bit an element

hit:
	TZCNTL BITS, T0                     // the first hit
	SHRL $1, T0                         // its element
	ADDQ POS, T0                        // its rank
	MOVQ T0, PlanarHit_Pos(DST)         // write it
	MOVQ NUMBER, PlanarHit_Probe(DST)
	ADDQ $PlanarHit__size, DST
	DECQ ROOM                           // so much less room
	LEAL -1(BITS), T0                   // without its bit
	ANDL T0, BITS
	JNZ  hit
	JMP  stepped
