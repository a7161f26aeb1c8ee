//go:build !purego

#include "textflag.h"

// within32NEON looks at 32 elements a round: 8 registers of 4 are XORed and their
// bytes counted, and pairwise additions fold them into two registers whose bytes are the
// 32 distances. A round with a hit is looked at again, one element at a time; so are the
// elements after the last whole round.

#define DST  R0 // where the next index goes
#define END  R1 // end of dst
#define XS   R2 // next element
#define LEN  R3 // elements to go
#define BASE R4 // what the next element's index is
#define K    R5
#define MORE R6 // elements to look at again
#define T0   R8
#define T1   R9

#define VQ V30 // q, four times
#define VK V31 // k in every byte

// func within32NEON(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)
TEXT ·within32NEON(SB), NOSPLIT, $0-80
	MOVD  dst_base+0(FP), DST
	MOVD  dst_len+8(FP), END
	ADD   END<<2, DST, END
	MOVD  xs_base+24(FP), XS
	MOVD  xs_len+32(FP), LEN
	MOVWU base+48(FP), BASE
	MOVWU q+52(FP), T0
	VDUP  T0, VQ.S4
	MOVD  k+56(FP), K
	VDUP  K, VK.B16

round:
	CMP  $32, LEN
	BLO  tail
	VLD1.P 64(XS), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(XS), [V4.B16, V5.B16, V6.B16, V7.B16]
	VEOR VQ.B16, V0.B16, V0.B16
	VEOR VQ.B16, V1.B16, V1.B16
	VEOR VQ.B16, V2.B16, V2.B16
	VEOR VQ.B16, V3.B16, V3.B16
	VEOR VQ.B16, V4.B16, V4.B16
	VEOR VQ.B16, V5.B16, V5.B16
	VEOR VQ.B16, V6.B16, V6.B16
	VEOR VQ.B16, V7.B16, V7.B16
	VCNT V0.B16, V0.B16
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
	VUMIN V4.B16, V0.B16, V0.B16
	VUMIN VK.B16, V0.B16, V1.B16
	VCMEQ V0.B16, V1.B16, V1.B16  // least <= k
	VMOV  V1.D[0], T0
	VMOV  V1.D[1], T1
	ORR   T0, T1, T0
	CBNZ  T0, alarm
	ADD   $32, BASE
	SUB   $32, LEN
	B     round

alarm:
	SUB  $128, XS
	MOVD $32, MORE
	B    again

tail:
	CBZ  LEN, done
	MOVD LEN, MORE

	// MORE elements, one at a time.
again:
	FMOVS (XS), F0
	VEOR  VQ.B8, V0.B8, V0.B8
	VMOV  V0.S[0], T0
	FMOVS T0, F0                  // clears the lanes above
	VCNT  V0.B8, V0.B8
	VUADDLV V0.B8, V0
	VMOV  V0.H[0], T0
	CMP   K, T0
	BHI   miss
	CMP   END, DST
	BHS   done                    // dst is full
	MOVW.P BASE, 4(DST)

miss:
	ADD  $4, XS
	ADD  $1, BASE
	SUB  $1, LEN
	SUBS $1, MORE
	BNE  again
	B    round

done:
	MOVD dst_base+0(FP), T0
	SUB  T0, DST
	LSR  $2, DST
	MOVD DST, n+64(FP)
	MOVD xs_len+32(FP), T0
	SUB  LEN, T0
	MOVD T0, scanned+72(FP)
	RET
