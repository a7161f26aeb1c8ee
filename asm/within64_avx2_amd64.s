//go:build !purego

#include "textflag.h"
#include "mula_avx2_amd64.h"

// within64AVX2 looks at 16 elements, 4 registers, a round: XOR, the counts of the
// bytes, their sums (VPSADBW), and the least sum of each lane compared with k at
// once. Hits are rare, so only a round with one is looked at again, one element at a
// time; so are the elements after the last whole round.

#define AHEAD 4096 // bytes; see within64AVX512

#define DST  DI  // address of the next index
#define END  R9  // end of dst
#define XS   SI  // first element
#define LEN  R8  // elements
#define OFF  AX  // elements done
#define STOP DX  // element at which looking again ends
#define Q    R10 // q
#define K    R11 // the largest distance
#define BASE R12 // index of the first element
#define T0   CX  // scratch

#define VQ   Y0 // q in every lane
#define VK   Y1 // k+1
#define ZERO Y2 // 0, to sum bytes

#define DISTANCES(at, y, t) \
	VPXOR   at(XS)(OFF*8), VQ, y \ // bits that differ
	COUNT_BYTES(y, t)            \ // counted by byte
	VPSADBW ZERO, y, y             // by element

// func within64AVX2(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)
TEXT ·within64AVX2(SB), NOSPLIT, $0-88
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	LEAQ (DST)(END*4), END              // one past dst
	MOVQ xs_base+24(FP), XS
	MOVQ xs_len+32(FP), LEN
	MOVL base+48(FP), BASE
	MOVQ q+56(FP), Q
	MOVQ k+64(FP), K
	LOAD_TABLE(T0, X3)                  // the popcount by table
	VPBROADCASTQ q+56(FP), VQ           // q in all lanes
	LEAQ  1(K), T0                      // distances below k+1 are hits
	VMOVQ T0, X3
	VPBROADCASTQ X3, VK
	VPXOR ZERO, ZERO, ZERO
	XORL  OFF, OFF

	PCALIGN $32
round:
	LEAQ 16(OFF), STOP                  // 16 elements?
	CMPQ STOP, LEN
	JHI  tail
	PREFETCHT0 (AHEAD+0)(XS)(OFF*8)     // the two lines a page ahead
	PREFETCHT0 (AHEAD+64)(XS)(OFF*8)
	DISTANCES(0, Y4, Y8)                // 4 elements
	DISTANCES(32, Y5, Y9)               // 4 more
	DISTANCES(64, Y6, Y10)              // 4 more
	DISTANCES(96, Y7, Y11)              // 4 more
	// Sums fit in the low halves, and AVX2 has a minimum of 32 bits only.
	VPMINUD Y4, Y5, Y5                  // the least of each lane
	VPMINUD Y6, Y7, Y7
	VPMINUD Y5, Y7, Y7
	VPCMPGTQ Y7, VK, Y7                 // all ones where k+1 is greater
	VPTEST Y7, Y7                       // in any lane?
	JNZ  again
	MOVQ STOP, OFF                      // the next 16
	JMP  round

tail:
	MOVQ LEN, STOP                      // fewer than 16 are left
	CMPQ OFF, LEN
	JCC  done

	// Elements [OFF, STOP), one at a time.
again:
	MOVQ (XS)(OFF*8), T0                // the element
	XORQ Q, T0                          // bits that differ
	POPCNTQ T0, T0                      // how many
	CMPQ T0, K                          // further than k?
	JHI  miss
	CMPQ DST, END
	JCC  done                    // dst is full
	LEAL (BASE)(OFF*1), T0              // its index
	MOVL T0, (DST)
	ADDQ $4, DST

miss:
	INCQ OFF                            // the next element
	CMPQ OFF, STOP                      // the last to look at?
	JCS  again
	JMP  round

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $2, DST                        // n
	MOVQ DST, n+72(FP)
	MOVQ OFF, scanned+80(FP)            // scanned
	VZEROUPPER
	RET
