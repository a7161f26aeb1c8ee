//go:build !purego

#include "textflag.h"

// within32AVX512 is within64AVX512 with twice the lanes, and half the registers a
// round: 64 elements in 4. What it is for is in a cache or follows a prefetch, so no
// lines are prefetched.

#define DST  DI  // address of the next index
#define END  R9  // end of dst
#define XS   SI  // first element
#define LEN  R8  // elements
#define OFF  AX  // elements done
#define STOP DX  // element at which looking again ends
#define T0   CX  // scratch
#define T1   R10 // scratch

#define VQ   Z0 // q in every lane
#define VK   Z1 // k in every lane
#define IOTA Z2 // base, base+1, ... base+15

DATA iota16<>+0(SB)/8, $0x0000000100000000
DATA iota16<>+8(SB)/8, $0x0000000300000002
DATA iota16<>+16(SB)/8, $0x0000000500000004
DATA iota16<>+24(SB)/8, $0x0000000700000006
DATA iota16<>+32(SB)/8, $0x0000000900000008
DATA iota16<>+40(SB)/8, $0x0000000b0000000a
DATA iota16<>+48(SB)/8, $0x0000000d0000000c
DATA iota16<>+56(SB)/8, $0x0000000f0000000e
GLOBL iota16<>(SB), RODATA|NOPTR, $64

// func within32AVX512(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)
TEXT ·within32AVX512(SB), NOSPLIT, $0-80
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	LEAQ (DST)(END*4), END              // one past dst
	MOVQ xs_base+24(FP), XS
	MOVQ xs_len+32(FP), LEN
	MOVL q+52(FP), T0                   // q in all lanes
	VPBROADCASTD T0, VQ
	MOVQ k+56(FP), T0                   // k in all lanes
	VPBROADCASTD T0, VK
	MOVL base+48(FP), T0                // the indexes of 16 elements
	VPBROADCASTD T0, IOTA
	VPADDD iota16<>(SB), IOTA, IOTA
	XORL OFF, OFF

	PCALIGN $32
round:
	LEAQ 64(OFF), STOP                  // 64 elements?
	CMPQ STOP, LEN
	JHI  tail
	VPXORD (XS)(OFF*4), VQ, Z8          // 16 elements
	VPXORD 64(XS)(OFF*4), VQ, Z9        // 16 more
	VPXORD 128(XS)(OFF*4), VQ, Z10      // 16 more
	VPXORD 192(XS)(OFF*4), VQ, Z11      // 16 more
	VPOPCNTD Z8, Z8                     // how many bits differ
	VPOPCNTD Z9, Z9
	VPOPCNTD Z10, Z10
	VPOPCNTD Z11, Z11
	VPMINUD Z8, Z9, Z9                  // the least of each lane
	VPMINUD Z10, Z11, Z11
	VPMINUD Z9, Z11, Z11
	VPCMPUD $2, VK, Z11, K1             // least <= k
	KORTESTW K1, K1                     // in any lane?
	JNZ  again
	MOVQ STOP, OFF                      // the next 64
	JMP  round

tail:
	MOVQ LEN, STOP                      // fewer than 64 are left
	CMPQ OFF, LEN
	JCC  done

	// Elements [OFF, STOP), at most 64, 16 at a time.
again:
	MOVQ  STOP, T0                      // a bit for each element, 16 at most
	SUBQ  OFF, T0
	MOVL  $0xffff, T1
	BZHIL T0, T1, T1
	KMOVW T1, K1
	VPXORD.Z (XS)(OFF*4), VQ, K1, Z8    // the elements, zeros elsewhere
	VPOPCNTD Z8, Z8                     // bits that differ
	VPCMPUD $2, VK, Z8, K1, K2          // those within k
	KMOVW K2, T1
	POPCNTL T1, T0                      // how many hits
	LEAQ  (DST)(T0*4), T1               // where dst would end
	CMPQ  T1, END
	JHI   done                   // dst cannot take these
	VPBROADCASTD OFF, Z8                // indexes from OFF on
	VPADDD IOTA, Z8, Z8
	VPCOMPRESSD.Z Z8, K2, Z8            // those of the hits together, and a bit for each
	MOVL  $-1, R11
	BZHIL T0, R11, R11
	KMOVW R11, K3
	VMOVDQU32 Z8, K3, (DST)             // written after the others
	MOVQ  T1, DST
	ADDQ  $16, OFF                      // the next 16
	CMPQ  OFF, STOP
	JCS   again
	MOVQ  STOP, OFF                     // the round is done
	JMP   round

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $2, DST                        // n
	MOVQ DST, n+64(FP)
	MOVQ OFF, scanned+72(FP)            // scanned
	VZEROUPPER
	RET
