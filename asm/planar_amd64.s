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
#define GROUPS R8
#define LOW    R10
#define KEYS   R11
#define SHIFT  R9  // 64 - GroupBits
#define GROUP  AX  // then group%64, then group%64 * count
#define LINE   BX  // address of the block's
#define BASE   R14
#define COUNT  DX
#define START  R12
#define END    R13

// func planarAheadAMD64(p *Planar, probes []PlanarProbe)
TEXT ·planarAheadAMD64(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX
	MOVQ Planar_Groups(AX), GROUPS
	MOVL $64, CX
	SUBQ Planar_GroupBits(AX), CX
	MOVQ probes_base+8(FP), PROBE
	MOVQ probes_len+16(FP), LEFT

ahead:
	MOVQ PlanarProbe_Key(PROBE), GROUP
	SHRQ CX, GROUP
	SHRQ $6, GROUP
	SHLQ $6, GROUP
	PREFETCHT0 (GROUPS)(GROUP*1)
	ADDQ $PlanarProbe__size, PROBE
	DECQ LEFT
	JNZ  ahead
	RET

// func planarLocateAMD64(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int)
TEXT ·planarLocateAMD64(SB), NOSPLIT, $0-64
	MOVQ p+48(FP), AX
	MOVQ Planar_Groups(AX), GROUPS
	MOVQ Planar_Low(AX), LOW
	MOVQ Planar_Keys(AX), KEYS
	MOVL $64, SHIFT
	SUBQ Planar_GroupBits(AX), SHIFT
	MOVQ runs_base+0(FP), RUN
	MOVQ probes_base+24(FP), PROBE
	MOVQ probes_len+32(FP), LEFT

	PCALIGN $32
locate:
	// line := Groups[group/64*8:]; group %= 64
	MOVQ SHIFT, CX
	MOVQ PlanarProbe_Key(PROBE), GROUP
	SHRQ CX, GROUP
	MOVQ GROUP, LINE
	ANDQ $~63, LINE
	ADDQ GROUPS, LINE
	ANDL $63, GROUP
	MOVQ 56(LINE), COUNT
	TESTB $const_PlanarWide, DX     // DX is COUNT
	JNZ  done
	MOVQ COUNT, BASE
	SHRQ $48, COUNT
	SHLQ $16, BASE
	SHRQ $24, BASE

	// Two corrections of 7 bits from bit 7*group on: at most 7+14 bits of 8 bytes,
	// which end inside the line.
	LEAL (GROUP)(GROUP*2), CX
	LEAL (GROUP)(CX*2), CX
	MOVL CX, END
	SHRL $3, END
	ANDL $7, CX
	MOVQ (LINE)(END*1), START
	SHRQ CX, START
	MOVQ START, END
	SHLQ $57, START
	SHLQ $50, END
	SARQ $57, START
	SARQ $57, END

	// start := base + group*count/64 + correction, and end
	ADDQ BASE, START
	ADDQ BASE, END
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
