//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarScanAVX512 looks at 32 elements a register, which is a whole run as a rule:
// a masked load, XOR, VPOPCNTW, comparison. AVX-512 masks a load's faults too.

#define RUN    SI
#define PROBE  DI
#define LEFT   R15 // runs to go, this one included
#define LOW    R10
#define KEYS   R11
#define DST    BX
#define ROOM   R14 // hits that dst can still take
#define PTR    R8  // next elements
#define LEN    R9  // elements of the run to go
#define POS    R13 // rank of the next elements
#define NUMBER R12 // of the run
#define T0     AX
#define BITS   CX

#define VQ   Z1
#define VLIM Z2

// func planarScanAVX512(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int)
TEXT ·planarScanAVX512(SB), NOSPLIT, $0-104
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), ROOM
	MOVQ runs_base+24(FP), RUN
	MOVQ runs_len+32(FP), LEFT
	MOVQ probes_base+48(FP), PROBE
	MOVQ p+72(FP), AX
	MOVQ Planar_Low(AX), LOW
	MOVQ Planar_Keys(AX), KEYS
	MOVQ base+80(FP), NUMBER
	TESTQ LEFT, LEFT
	JZ   done

	PCALIGN $32
run:
	// Start <= Keys && Len <= Keys-Start && Len <= PlanarLongest && Len <= ROOM
	MOVQ PlanarRun_Start(RUN), POS
	MOVQ PlanarRun_Len(RUN), LEN
	MOVQ KEYS, T0
	SUBQ POS, T0
	JCS  done
	CMPQ LEN, T0
	JHI  done
	CMPQ LEN, ROOM
	JHI  done
	LEAQ (LOW)(POS*2), PTR
	VPBROADCASTW PlanarProbe_Key(PROBE), VQ
	VPBROADCASTW PlanarProbe_Limit(PROBE), VLIM
	CMPQ LEN, $32
	JHI  long

	// The last elements of a run, 32 at most.
last:
	MOVL  $-1, T0
	BZHIL LEN, T0, T0                     // 32 leaves all
	KMOVD T0, K1
	VMOVDQU16.Z (PTR), K1, Z3
	VPXORD VQ, Z3, Z3
	VPOPCNTW Z3, Z3
	VPCMPUW $2, VLIM, Z3, K1, K2
	KMOVD K2, BITS
	XORL  LEN, LEN
	TESTL BITS, BITS
	JNZ   hit

next:
	ADDQ $PlanarRun__size, RUN
	ADDQ $PlanarProbe__size, PROBE
	INCQ NUMBER
	DECQ LEFT
	JNZ  run

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $4, DST                          // PlanarHit has 16 bytes
	MOVQ DST, hits+88(FP)
	MOVQ runs_len+32(FP), T0
	SUBQ LEFT, T0
	MOVQ T0, done+96(FP)
	VZEROUPPER
	RET

long:
	CMPQ LEN, $const_PlanarLongest
	JHI  done

more:
	CMPQ LEN, $32
	JLS  rest
	VPXORD (PTR), VQ, Z3
	VPOPCNTW Z3, Z3
	VPCMPUW $2, VLIM, Z3, K2
	KMOVD K2, BITS
	SUBQ $32, LEN
	TESTL BITS, BITS
	JNZ  hit

step:
	ADDQ $64, PTR
	ADDQ $32, POS
	JMP  more

rest:
	TESTQ LEN, LEN
	JZ   next
	JMP  last

hit:
	TZCNTL BITS, T0
	ADDQ POS, T0
	MOVQ T0, PlanarHit_Pos(DST)
	MOVQ NUMBER, PlanarHit_Probe(DST)
	ADDQ $PlanarHit__size, DST
	DECQ ROOM
	LEAL -1(BITS), T0
	ANDL T0, BITS
	JNZ  hit
	TESTQ LEN, LEN
	JNZ  step
	JMP  next
