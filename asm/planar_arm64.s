//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// planarScanNEON looks at 16 elements a step. Bytes are counted, and a pairwise addition makes one
// byte of the two of an element. The last step of an extent may see elements after the extent, which are
// in Low all the same (PlanarPad); their bits are dropped from the mask of hits.
//
// NEON has no VPMOVMSKB. A comparison leaves 16 bytes of all ones or zeros; SHRN by 4 keeps the
// middle eight bits of every two, and so four for each element, in the low half of a register.
//
//	bytes    ff 00 00 ff ...      halfwords 0x00ff 0xff00      >> 4, low bytes    0x0f 0xf0
//
// Counted, not timed: 34 instructions for an extent of up to 16 elements without a hit, 16 more for
// every further 16; the Go twin takes 38 and 12 for every element, 180 for an extent of 12. The chain of
// a step, from address to branch, is 26 cycles (Neoverse N1), and no extent waits for the one before:
// 9 cycles an extent where four instructions start in a cycle.

#define DST    R0    // address of the next hit
#define ROOM   R1    // hits that dst can still take
#define EXTENT    R2 // the next extent
#define LEFT   R3    // extents to go, this one included
#define PROBES R4    // all probes
#define LOW    R5    // the low bits of all keys
#define KEYS   R6    // how many there are
#define NUMBER R7    // of the probe
#define POS    R8    // rank of the next elements
#define LEN    R9    // elements of the extent to go
#define PTR    R10   // next elements
#define BITS   R11   // four for each of 16 elements
#define T0     R12   // scratch
#define T1     R13   // scratch; then the elements left after this step
#define LONG   R15   // PlanarLongest
#define COUNT  R19   // of probes

#define VQ   V0 // low bits of the probe's key in every lane
#define VLIM V1 // its limit in every byte

// func planarScanNEON(dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable) (hits, done int)
TEXT ·planarScanNEON(SB), NOSPLIT, $0-96
	// The arguments.
	MOVD dst_base+0(FP), DST
	MOVD dst_len+8(FP), ROOM
	MOVD extents_base+24(FP), EXTENT
	MOVD extents_len+32(FP), LEFT
	MOVD probes_base+48(FP), PROBES
	MOVD probes_len+56(FP), COUNT
	MOVD p+72(FP), T0
	MOVD PlanarTable_Low(T0), LOW
	MOVD PlanarTable_Keys(T0), KEYS
	MOVD $const_PlanarLongest, LONG     // as CCMP takes no larger constant
	CBZ  LEFT, done

extent:
	// Start <= Keys && Len <= Keys-Start && Len <= PlanarLongest && Len <= ROOM: each comparison is
	// made if the one before held. And there is such a probe.
	MOVD  PlanarExtent_Start(EXTENT), POS     // the extent
	MOVWU PlanarExtent_Len(EXTENT), LEN
	MOVWU PlanarExtent_Probe(EXTENT), NUMBER
	SUBS  POS, KEYS, T0                 // keys after its start
	CCMP  HS, T0, LEN, $0               // is the extent within them?
	CCMP  HS, LONG, LEN, $0             // is it short enough?
	CCMP  HS, ROOM, LEN, $0             // is there room for it?
	BLO   done
	CMP   COUNT, NUMBER                 // is there its probe?
	BHS   done
	CBZ   LEN, next                     // an empty extent has no step
	ADD   POS<<1, LOW, PTR              // its elements
	ADD   NUMBER<<4, PROBES, T0   // PlanarProbe has 16 bytes
	MOVHU PlanarProbe_Limit(T0), T1     // the probe's limit
	MOVD  PlanarProbe_Key(T0), T0       // and the query
	VDUP  T0, VQ.H8
	CMP   $255, T1                // a byte is enough: nothing is further than 16
	BHI   far

limit:
	VDUP  T1, VLIM.B16

step:
	VLD1.P 32(PTR), [V2.B16, V3.B16]    // 16 elements
	VEOR   VQ.B16, V2.B16, V2.B16       // the bits that differ
	VEOR   VQ.B16, V3.B16, V3.B16
	VCNT   V2.B16, V2.B16               // counted by byte
	VCNT   V3.B16, V3.B16
	VADDP  V3.B16, V2.B16, V2.B16       // by element
	VUMIN  VLIM.B16, V2.B16, V3.B16     // the smaller of count and limit
	VCMEQ  V2.B16, V3.B16, V2.B16 // count <= limit
	WORD   $0x0f0c8442            // SHRN $4, V2.H8, V2.B8
	FMOVD  F2, BITS                     // four bits an element
	SUBS   $16, LEN, T1                 // is this the last step of the extent?
	BLS    last
	CBNZ   BITS, hits                   // any hit?

stepped:
	ADD  $16, POS                       // the next elements
	MOVD T1, LEN
	B    step

last:
	// Of 16 elements the first LEN.
	NEG  LEN<<2, T0                     // 64 - 4*LEN
	LSL  T0, BITS, BITS           // by 64 - 4*LEN
	CBNZ BITS, ending                   // any hit among them?

next:
	ADD  $PlanarExtent__size, EXTENT          // the next extent
	SUBS $1, LEFT
	BNE  extent

done:
	MOVD dst_base+0(FP), T0
	SUB  T0, DST                        // hits
	LSR  $4, DST                  // PlanarHit has 16 bytes
	MOVD DST, hits+80(FP)
	MOVD extents_len+32(FP), T0            // done extents
	SUB  LEFT, T0
	MOVD T0, done+88(FP)
	RET

far:
	MOVD $255, T1                       // no element is further than 16
	B    limit

ending:
	LSR T0, BITS, BITS                  // back to where they were

hits:
	// The lowest bit is the first of the four of an element.
	RBIT BITS, T0                       // the first hit
	CLZ  T0, T0
	LSR  $2, T0, R14                    // its element
	ADD  POS, R14                       // its rank
	STP.P (R14, NUMBER), PlanarHit__size(DST) // write it
	SUB  $1, ROOM                       // so much less room
	MOVD $15, R14                       // without its four bits
	LSL  T0, R14
	BICS R14, BITS, BITS
	BNE  hits
	CMP  $0, T1                         // is there more of the extent?
	BGT  stepped
	B    next
