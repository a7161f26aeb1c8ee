//go:build !purego

#include "textflag.h"

// within64NEON looks at 16 elements a round: 8 registers of 2 are XORed and their
// bytes counted, and pairwise additions fold 8 registers of byte counts into one
// whose 16 bytes are the 16 distances. Hits are rare, so only a round with one is
// looked at again, one element at a time; so are the elements after the last whole
// round.

#define DST  R0 // address of the next index
#define END  R1 // end of dst
#define XS   R2 // next element
#define LEN  R3 // elements to go
#define BASE R4 // what the next element's index is
#define K    R5 // the largest distance
#define MORE R6 // elements to look at again
#define T0   R8 // scratch
#define T1   R9 // scratch

#define VQ V30 // q, twice
#define VK V31 // k in every byte

// func within64NEON(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)
TEXT ·within64NEON(SB), NOSPLIT, $0-88
	// The arguments.
	MOVD  dst_base+0(FP), DST
	MOVD  dst_len+8(FP), END
	ADD   END<<2, DST, END              // one past dst
	MOVD  xs_base+24(FP), XS
	MOVD  xs_len+32(FP), LEN
	MOVWU base+48(FP), BASE
	MOVD  q+56(FP), T0
	VDUP  T0, VQ.D2                     // q in all lanes
	MOVD  k+64(FP), K
	VDUP  K, VK.B16

round:
	CMP  $16, LEN                       // 16 elements?
	BLO  tail
	VLD1.P 64(XS), [V0.B16, V1.B16, V2.B16, V3.B16] // eight elements
	VLD1.P 64(XS), [V4.B16, V5.B16, V6.B16, V7.B16] // and eight more
	VEOR VQ.B16, V0.B16, V0.B16         // bits that differ
	VEOR VQ.B16, V1.B16, V1.B16
	VEOR VQ.B16, V2.B16, V2.B16
	VEOR VQ.B16, V3.B16, V3.B16
	VEOR VQ.B16, V4.B16, V4.B16
	VEOR VQ.B16, V5.B16, V5.B16
	VEOR VQ.B16, V6.B16, V6.B16
	VEOR VQ.B16, V7.B16, V7.B16
	VCNT V0.B16, V0.B16                 // counted by byte
	VCNT V1.B16, V1.B16
	VCNT V2.B16, V2.B16
	VCNT V3.B16, V3.B16
	VCNT V4.B16, V4.B16
	VCNT V5.B16, V5.B16
	VCNT V6.B16, V6.B16
	VCNT V7.B16, V7.B16
	VADDP V1.B16, V0.B16, V0.B16  // 4 sums an element
	VADDP V3.B16, V2.B16, V2.B16
	VADDP V5.B16, V4.B16, V4.B16
	VADDP V7.B16, V6.B16, V6.B16
	VADDP V2.B16, V0.B16, V0.B16  // 2
	VADDP V6.B16, V4.B16, V4.B16
	VADDP V4.B16, V0.B16, V0.B16  // 1, at most 64
	VUMIN VK.B16, V0.B16, V1.B16
	VCMEQ V0.B16, V1.B16, V1.B16  // distance <= k
	VMOV  V1.D[0], T0                   // any of 16 bytes?
	VMOV  V1.D[1], T1
	ORR   T0, T1, T0                    // both halves
	CBNZ  T0, alarm
	ADD   $16, BASE                     // the next 16
	SUB   $16, LEN
	B     round

alarm:
	SUB  $128, XS                       // back to the round's first element
	MOVD $16, MORE
	B    again

tail:
	CBZ  LEN, done                      // fewer than 16 are left
	MOVD LEN, MORE

	// MORE elements, one at a time.
again:
	FMOVD (XS), F0                      // the element
	VEOR  VQ.B8, V0.B8, V0.B8           // bits that differ
	VCNT  V0.B8, V0.B8                  // counted by byte
	VUADDLV V0.B8, V0                   // summed
	VMOV  V0.H[0], T0
	CMP   K, T0                         // further than k?
	BHI   miss
	CMP   END, DST
	BHS   done                    // dst is full
	MOVW.P BASE, 4(DST)                 // its index

miss:
	ADD  $8, XS                         // the next element
	ADD  $1, BASE
	SUB  $1, LEN
	SUBS $1, MORE                       // the last to look at?
	BNE  again
	B    round

done:
	MOVD dst_base+0(FP), T0
	SUB  T0, DST                        // n
	LSR  $2, DST
	MOVD DST, n+72(FP)
	MOVD xs_len+32(FP), T0              // scanned
	SUB  LEN, T0
	MOVD T0, scanned+80(FP)
	RET
