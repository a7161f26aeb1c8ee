//go:build !purego

#include "textflag.h"
#include "mula_avx2_amd64.h"

// within64AVX2 looks at 16 elements, 4 registers, a round: XOR, the counts of the
// bytes, their sums (VPSADBW), and the least sum of each lane compared with k at
// once. Hits are rare, so only a round with one is looked at again, one element at a
// time; so are the elements after the last whole round.

#define AHEAD 4096 // bytes; see within64AVX512

#define DST  DI  // where the next index goes
#define END  R9  // end of dst
#define XS   SI  // first element
#define LEN  R8  // elements
#define OFF  AX  // elements done
#define STOP DX  // element at which looking again ends
#define Q    R10
#define K    R11
#define BASE R12
#define T0   CX

#define VQ   Y0
#define VK   Y1 // k+1
#define ZERO Y2

#define DISTANCES(at, y, t) \
	VPXOR   at(XS)(OFF*8), VQ, y \
	COUNT_BYTES(y, t)            \
	VPSADBW ZERO, y, y

// func within64AVX2(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)
TEXT ·within64AVX2(SB), NOSPLIT, $0-88
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	LEAQ (DST)(END*4), END
	MOVQ xs_base+24(FP), XS
	MOVQ xs_len+32(FP), LEN
	MOVL base+48(FP), BASE
	MOVQ q+56(FP), Q
	MOVQ k+64(FP), K
	LOAD_TABLE(T0, X3)
	VPBROADCASTQ q+56(FP), VQ
	LEAQ  1(K), T0
	VMOVQ T0, X3
	VPBROADCASTQ X3, VK
	VPXOR ZERO, ZERO, ZERO
	XORL  OFF, OFF

	PCALIGN $32
round:
	LEAQ 16(OFF), STOP
	CMPQ STOP, LEN
	JHI  tail
	PREFETCHT0 (AHEAD+0)(XS)(OFF*8)
	PREFETCHT0 (AHEAD+64)(XS)(OFF*8)
	DISTANCES(0, Y4, Y8)
	DISTANCES(32, Y5, Y9)
	DISTANCES(64, Y6, Y10)
	DISTANCES(96, Y7, Y11)
	// Sums fit in the low halves, and AVX2 has a minimum of 32 bits only.
	VPMINUD Y4, Y5, Y5
	VPMINUD Y6, Y7, Y7
	VPMINUD Y5, Y7, Y7
	VPCMPGTQ Y7, VK, Y7
	VPTEST Y7, Y7
	JNZ  again
	MOVQ STOP, OFF
	JMP  round

tail:
	MOVQ LEN, STOP
	CMPQ OFF, LEN
	JCC  done

	// Elements [OFF, STOP), one at a time.
again:
	MOVQ (XS)(OFF*8), T0
	XORQ Q, T0
	POPCNTQ T0, T0
	CMPQ T0, K
	JHI  miss
	CMPQ DST, END
	JCC  done                    // dst is full
	LEAL (BASE)(OFF*1), T0
	MOVL T0, (DST)
	ADDQ $4, DST

miss:
	INCQ OFF
	CMPQ OFF, STOP
	JCS  again
	JMP  round

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $2, DST
	MOVQ DST, n+72(FP)
	MOVQ OFF, scanned+80(FP)
	VZEROUPPER
	RET
