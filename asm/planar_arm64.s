//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarScanNEON looks at 16 elements a step. Bytes are counted, and a pairwise addition makes one
// byte of the two of an element. The last step of a run may see elements behind the run, which lie
// in Low all the same (PlanarPad); their bits are dropped from the mask of hits.
//
// NEON has no VPMOVMSKB. A comparison leaves 16 bytes of all ones or zeros; SHRN by 4 keeps the
// middle eight bits of every two, and so four for each element, in the low half of a register.
//
//	bytes    ff 00 00 ff ...      halfwords 0x00ff 0xff00      >> 4, low bytes    0x0f 0xf0
//
// Counted, not timed: 34 instructions for a run of up to 16 elements without a hit, 16 more for
// every further 16; the Go twin takes 38 and 12 for every element, 180 for a run of 12. The chain of
// a step, from address to branch, is 26 cycles (Neoverse N1), and no run waits for the one before:
// 9 cycles a run where four instructions start in a cycle.

#define DST    R0
#define ROOM   R1  // hits that dst can still take
#define RUN    R2
#define LEFT   R3  // runs to go, this one included
#define PROBES R4
#define LOW    R5
#define KEYS   R6
#define NUMBER R7  // of the probe
#define POS    R8  // rank of the next elements
#define LEN    R9  // elements of the run to go
#define PTR    R10 // next elements
#define BITS   R11 // four for each of 16 elements
#define T0     R12
#define T1     R13
#define LONG   R15 // PlanarLongest
#define COUNT  R19 // of probes

#define VQ   V0
#define VLIM V1

// func planarScanNEON(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *PlanarTable) (hits, done int)
TEXT ·planarScanNEON(SB), NOSPLIT, $0-96
	MOVD dst_base+0(FP), DST
	MOVD dst_len+8(FP), ROOM
	MOVD runs_base+24(FP), RUN
	MOVD runs_len+32(FP), LEFT
	MOVD probes_base+48(FP), PROBES
	MOVD probes_len+56(FP), COUNT
	MOVD p+72(FP), T0
	MOVD PlanarTable_Low(T0), LOW
	MOVD PlanarTable_Keys(T0), KEYS
	MOVD $const_PlanarLongest, LONG
	CBZ  LEFT, done

run:
	// Start <= Keys && Len <= Keys-Start && Len <= PlanarLongest && Len <= ROOM: each comparison is
	// made if the one before held. And there is such a probe.
	MOVD  PlanarRun_Start(RUN), POS
	MOVWU PlanarRun_Len(RUN), LEN
	MOVWU PlanarRun_Probe(RUN), NUMBER
	SUBS  POS, KEYS, T0
	CCMP  HS, T0, LEN, $0
	CCMP  HS, LONG, LEN, $0
	CCMP  HS, ROOM, LEN, $0
	BLO   done
	CMP   COUNT, NUMBER
	BHS   done
	CBZ   LEN, next
	ADD   POS<<1, LOW, PTR
	ADD   NUMBER<<4, PROBES, T0   // PlanarProbe has 16 bytes
	MOVHU PlanarProbe_Limit(T0), T1
	MOVD  PlanarProbe_Key(T0), T0
	VDUP  T0, VQ.H8
	CMP   $255, T1                // a byte is enough: nothing is further than 16
	BHI   far

limit:
	VDUP  T1, VLIM.B16

step:
	VLD1.P 32(PTR), [V2.B16, V3.B16]
	VEOR   VQ.B16, V2.B16, V2.B16
	VEOR   VQ.B16, V3.B16, V3.B16
	VCNT   V2.B16, V2.B16
	VCNT   V3.B16, V3.B16
	VADDP  V3.B16, V2.B16, V2.B16
	VUMIN  VLIM.B16, V2.B16, V3.B16
	VCMEQ  V2.B16, V3.B16, V2.B16 // count <= limit
	WORD   $0x0f0c8442            // SHRN $4, V2.H8, V2.B8
	FMOVD  F2, BITS
	SUBS   $16, LEN, T1
	BLS    last
	CBNZ   BITS, hits

stepped:
	ADD  $16, POS
	MOVD T1, LEN
	B    step

last:
	// Of 16 elements the first LEN.
	NEG  LEN<<2, T0
	LSL  T0, BITS, BITS           // by 64 - 4*LEN
	CBNZ BITS, ending

next:
	ADD  $PlanarRun__size, RUN
	SUBS $1, LEFT
	BNE  run

done:
	MOVD dst_base+0(FP), T0
	SUB  T0, DST
	LSR  $4, DST                  // PlanarHit has 16 bytes
	MOVD DST, hits+80(FP)
	MOVD runs_len+32(FP), T0
	SUB  LEFT, T0
	MOVD T0, done+88(FP)
	RET

far:
	MOVD $255, T1
	B    limit

ending:
	LSR T0, BITS, BITS

hits:
	// The lowest bit is the first of the four of an element.
	RBIT BITS, T0
	CLZ  T0, T0
	LSR  $2, T0, R14
	ADD  POS, R14
	STP.P (R14, NUMBER), PlanarHit__size(DST)
	SUB  $1, ROOM
	MOVD $15, R14
	LSL  T0, R14
	BICS R14, BITS, BITS
	BNE  hits
	CMP  $0, T1
	BGT  stepped
	B    next
