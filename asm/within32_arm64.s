//go:build !purego

#include "textflag.h"

// within32NEON looks at 32 elements a round: 8 registers of 4 are XORed and their
// bytes counted, and pairwise additions fold them into two registers whose bytes are the
// 32 distances. A round with a hit is looked at again, one element at a time; so are the
// elements after the last whole round.

#define DST  R0 // address of the next index
#define END  R1 // end of dst
#define XS   R2 // next element
#define LEN  R3 // elements to go
#define BASE R4 // what the next element's index is
#define K    R5 // the largest distance
#define MORE R6 // elements to look at again
#define T0   R8 // scratch
#define T1   R9 // scratch

#define VQ V30 // q, four times
#define VK V31 // k in every byte

// func within32NEON(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)
TEXT ·within32NEON(SB), NOSPLIT, $0-80
	// The arguments.
	MOVD  dst_base+0(FP), DST
	MOVD  dst_len+8(FP), END
	ADD   END<<2, DST, END              // one past dst
	MOVD  xs_base+24(FP), XS
	MOVD  xs_len+32(FP), LEN
	MOVWU base+48(FP), BASE
	MOVWU q+52(FP), T0
	VDUP  T0, VQ.S4                     // q in all lanes
	MOVD  k+56(FP), K
	VDUP  K, VK.B16

round:
	CMP  $32, LEN                       // 32 elements?
	BLO  tail
	VLD1.P 64(XS), [V0.B16, V1.B16, V2.B16, V3.B16] // 16 elements
	VLD1.P 64(XS), [V4.B16, V5.B16, V6.B16, V7.B16] // and 16 more
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
	VADDP V1.B16, V0.B16, V0.B16  // 2 sums an element
	VADDP V3.B16, V2.B16, V2.B16
	VADDP V5.B16, V4.B16, V4.B16
	VADDP V7.B16, V6.B16, V6.B16
	VADDP V2.B16, V0.B16, V0.B16  // 1, at most 32
	VADDP V6.B16, V4.B16, V4.B16
	VUMIN V4.B16, V0.B16, V0.B16        // the least of both halves
	VUMIN VK.B16, V0.B16, V1.B16
	VCMEQ V0.B16, V1.B16, V1.B16  // least <= k
	VMOV  V1.D[0], T0                   // any of 16 bytes?
	VMOV  V1.D[1], T1
	ORR   T0, T1, T0
	CBNZ  T0, alarm                     // both halves
	ADD   $32, BASE                     // the next 32
	SUB   $32, LEN
	B     round

alarm:
	SUB  $128, XS                       // back to the round's first element
	MOVD $32, MORE
	B    again

tail:
	CBZ  LEN, done
	MOVD LEN, MORE                      // fewer than 32 are left

	// MORE elements, one at a time.
again:
	FMOVS (XS), F0                      // the element
	VEOR  VQ.B8, V0.B8, V0.B8           // bits that differ
	VMOV  V0.S[0], T0
	FMOVS T0, F0                  // clears the lanes above
	VCNT  V0.B8, V0.B8                  // counted by byte
	VUADDLV V0.B8, V0                   // summed
	VMOV  V0.H[0], T0
	CMP   K, T0                         // further than k?
	BHI   miss
	CMP   END, DST
	BHS   done                    // dst is full
	MOVW.P BASE, 4(DST)                 // its index

miss:
	ADD  $4, XS                         // the next element
	ADD  $1, BASE
	SUB  $1, LEN
	SUBS $1, MORE                       // the last to look at?
	BNE  again
	B    round

done:
	MOVD dst_base+0(FP), T0             // n
	SUB  T0, DST
	LSR  $2, DST
	MOVD DST, n+64(FP)
	MOVD xs_len+32(FP), T0              // scanned
	SUB  LEN, T0
	MOVD T0, scanned+72(FP)
	RET
