//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The directory of a planar table, on the integer units: a dozen instructions for
// the start of a group and a few more for the start of the next. Its tables are
// small enough for the caches; gathering eight probes at a time would take as many
// loads and save instructions that wait for memory anyway.

#define PROBE  SI
#define RUN    DI
#define LEFT   R15 // probes to go
#define STARTS R8
#define CORR   R9
#define LOW    R10
#define KEYS   R11
#define SHIFT  CX  // 64 - GroupBits
#define GROUP  AX  // then group%64 * count
#define FIRST  BX  // Starts of the block
#define COUNT  DX  // its keys
#define START  R12
#define END    R13

// func planarAheadAMD64(p *Planar, probes []PlanarProbe)
TEXT ·planarAheadAMD64(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX
	MOVQ Planar_Starts(AX), STARTS
	MOVQ Planar_Corrections(AX), CORR
	MOVL $64, SHIFT
	SUBQ Planar_GroupBits(AX), SHIFT
	MOVQ probes_base+8(FP), PROBE
	MOVQ probes_len+16(FP), LEFT

ahead:
	MOVQ PlanarProbe_Key(PROBE), GROUP
	SHRQ SHIFT, GROUP
	PREFETCHT0 (CORR)(GROUP*1)
	SHRQ $6, GROUP
	PREFETCHT0 (STARTS)(GROUP*8)
	ADDQ $PlanarProbe__size, PROBE
	DECQ LEFT
	JNZ  ahead
	RET

// func planarLocateAMD64(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int)
TEXT ·planarLocateAMD64(SB), NOSPLIT, $0-64
	MOVQ p+48(FP), AX
	MOVQ Planar_Starts(AX), STARTS
	MOVQ Planar_Corrections(AX), CORR
	MOVQ Planar_Low(AX), LOW
	MOVQ Planar_Keys(AX), KEYS
	MOVL $64, SHIFT
	SUBQ Planar_GroupBits(AX), SHIFT
	MOVQ runs_base+0(FP), RUN
	MOVQ probes_base+24(FP), PROBE
	MOVQ probes_len+32(FP), LEFT

	PCALIGN $32
locate:
	// first, count := Starts[block], Starts[block+1]&^PlanarWide - first
	MOVQ PlanarProbe_Key(PROBE), GROUP
	SHRQ SHIFT, GROUP
	MOVQ GROUP, DX
	SHRQ $6, DX
	MOVQ (STARTS)(DX*8), FIRST
	MOVQ 8(STARTS)(DX*8), COUNT
	TESTQ FIRST, FIRST
	JLT  done                       // wide
	BTRQ $63, COUNT
	SUBQ FIRST, COUNT

	// start := first + group%64*count/64 + Corrections[group], and end
	MOVBQSX (CORR)(GROUP*1), START
	MOVBQSX 1(CORR)(GROUP*1), END
	ADDQ FIRST, START
	ADDQ FIRST, END
	ANDL $63, GROUP
	IMULQ COUNT, GROUP
	ADDQ GROUP, COUNT
	SHRQ $6, GROUP
	SHRQ $6, COUNT
	ADDQ GROUP, START
	ADDQ COUNT, END

	CMPQ START, END
	JHI  done
	CMPQ END, KEYS
	JHI  done
	PREFETCHT0 (LOW)(START*2)
	PREFETCHT0 -1(LOW)(END*2)
	SUBQ START, END
	CMPQ END, $const_PlanarLongest
	JHI  done
	MOVQ START, PlanarRun_Start(RUN)
	MOVQ END, PlanarRun_Len(RUN)
	ADDQ $PlanarProbe__size, PROBE
	ADDQ $PlanarRun__size, RUN
	DECQ LEFT
	JNZ  locate

done:
	MOVQ probes_len+32(FP), AX
	SUBQ LEFT, AX
	MOVQ AX, done+56(FP)
	RET
