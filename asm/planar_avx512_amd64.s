//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarScanAVX512 looks at up to 32 elements a step, which is a whole run as a
// rule: they lie on one line of 64 bytes or on two neighbours, both of which are
// loaded, aligned and under a mask. An unaligned load would ask for the next line
// too, mask or no mask, for two runs in three in vain: that made a probe twice as
// slow. Where one line holds them all it is loaded twice.
//
//	           line              line + 64
//	|......aaaaaaaaaaaaaaaa|aaaaa...................|
//	 offset                          mask = (1<<n - 1) << offset, 32 bits for each line
//
// No branch depends on where a run lies. AVX-512 masks a load's faults too.

#define RUN    SI
#define PROBES DI
#define LEFT   R15 // runs to go, this one included
#define LOW    R10
#define KEYS   R11
#define DST    BX
#define ROOM   R14 // hits that dst can still take
#define LINE   R8  // address of the next element's line
#define LEN    R9  // elements of the run to go
#define POS    R13 // rank of the next element, then of the first on its line
#define NUMBER R12 // of the probe
#define T0     AX
#define BITS   CX
#define OFFSET DX  // elements on the line before the next

#define VQ   Z1
#define VLIM Z2

// func planarScanAVX512(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *PlanarTable) (hits, done int)
TEXT ·planarScanAVX512(SB), NOSPLIT, $0-96
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), ROOM
	MOVQ runs_base+24(FP), RUN
	MOVQ runs_len+32(FP), LEFT
	MOVQ probes_base+48(FP), PROBES
	MOVQ p+72(FP), AX
	MOVQ PlanarTable_Low(AX), LOW
	MOVQ PlanarTable_Keys(AX), KEYS
	TESTQ LEFT, LEFT
	JZ   done

	PCALIGN $32
run:
	// Start <= Keys && Len <= Keys-Start && Len <= PlanarLongest && Len <= ROOM, and there is such a probe
	MOVQ PlanarRun_Start(RUN), POS
	MOVL PlanarRun_Len(RUN), LEN
	MOVL PlanarRun_Probe(RUN), NUMBER
	MOVQ KEYS, T0
	SUBQ POS, T0
	JCS  done
	CMPQ LEN, T0
	JHI  done
	CMPQ LEN, ROOM
	JHI  done
	CMPQ LEN, $const_PlanarLongest
	JHI  done
	CMPQ NUMBER, probes_len+56(FP)
	JCC  done
	MOVQ NUMBER, T0
	SHLQ $4, T0                           // PlanarProbe has 16 bytes
	VPBROADCASTW PlanarProbe_Key(PROBES)(T0*1), VQ
	VPBROADCASTW PlanarProbe_Limit(PROBES)(T0*1), VLIM

step:
	LEAQ (LOW)(POS*2), LINE
	MOVL LINE, OFFSET
	ANDQ $~63, LINE
	ANDL $63, OFFSET
	SHRL $1, OFFSET
	// The mask of min(LEN, 32) elements from OFFSET on; BZHI looks at eight bits of
	// its count, so that a longer LEN is cut first.
	MOVL $32, T0
	CMPQ LEN, T0
	CMOVQCS LEN, T0
	SUBQ T0, LEN
	MOVQ $-1, BITS
	BZHIQ T0, BITS, BITS
	SHLXQ OFFSET, BITS, BITS
	KMOVD BITS, K1
	SHRQ $32, BITS
	KMOVD BITS, K2
	// The second line, if the mask has any of it.
	NEGL BITS
	SBBQ BITS, BITS
	ANDL $64, BITS
	VMOVDQU16.Z (LINE), K1, Z3
	VMOVDQU16.Z (LINE)(BITS*1), K2, Z4
	VPXORD VQ, Z3, Z3
	VPXORD VQ, Z4, Z4
	VPOPCNTW Z3, Z3
	VPOPCNTW Z4, Z4
	VPCMPUW $2, VLIM, Z3, K1, K3
	VPCMPUW $2, VLIM, Z4, K2, K4
	KORTESTD K3, K4
	JNZ  hits

stepped:
	TESTQ LEN, LEN
	JNZ  more

	ADDQ $PlanarRun__size, RUN
	DECQ LEFT
	JNZ  run

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $4, DST                          // PlanarHit has 16 bytes
	MOVQ DST, hits+80(FP)
	MOVQ runs_len+32(FP), T0
	SUBQ LEFT, T0
	MOVQ T0, done+88(FP)
	VZEROUPPER
	RET

more:
	ADDQ $32, POS
	JMP  step

hits:
	KUNPCKDQ K3, K4, K3
	KMOVQ K3, BITS
	SUBQ OFFSET, POS

hit:
	TZCNTQ BITS, T0
	ADDQ POS, T0
	MOVQ T0, PlanarHit_Pos(DST)
	MOVQ NUMBER, PlanarHit_Probe(DST)
	ADDQ $PlanarHit__size, DST
	DECQ ROOM
	LEAQ -1(BITS), T0
	ANDQ T0, BITS
	JNZ  hit
	ADDQ OFFSET, POS
	JMP  stepped
