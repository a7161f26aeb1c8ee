//go:build !purego

#include "textflag.h"
#include "mula_avx2_amd64.h"

// within32AVX2 looks at 32 elements, 4 registers, a round: XOR, the counts of the
// bytes, their sums (VPMADDUBSW, VPMADDWD), and the least sum of each lane compared with k
// at once. A round with a hit is looked at again, one element at a time; so are the
// elements after the last whole round.

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

#define VQ   Y0   // q in every lane
#define VK   Y1   // k+1
#define BYTES Y13 // 1 in every byte
#define WORDS Y12 // 1 in every 16 bits

#define DISTANCES(at, y, t) \
	VPXOR      at(XS)(OFF*4), VQ, y \ // bits that differ
	COUNT_BYTES(y, t)               \ // counted by byte
	VPMADDUBSW BYTES, y, y          \ // by 16 bits
	VPMADDWD   WORDS, y, y            // by element

// func within32AVX2(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)
TEXT ·within32AVX2(SB), NOSPLIT, $0-80
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	LEAQ (DST)(END*4), END              // one past dst
	MOVQ xs_base+24(FP), XS
	MOVQ xs_len+32(FP), LEN
	MOVL base+48(FP), BASE
	MOVL q+52(FP), Q
	MOVQ k+56(FP), K
	LOAD_TABLE(T0, X3)                  // the popcount by table
	VMOVD Q, X3
	VPBROADCASTD X3, VQ                 // q in all lanes
	LEAQ  1(K), T0                      // distances below k+1 are hits
	VMOVD T0, X3
	VPBROADCASTD X3, VK
	VPCMPEQD Y2, Y2, Y2                 // all ones, which is -1; its magnitude is 1
	VPABSB Y2, BYTES
	VPABSW Y2, WORDS
	XORL  OFF, OFF

	PCALIGN $32
round:
	LEAQ 32(OFF), STOP                  // 32 elements?
	CMPQ STOP, LEN
	JHI  tail
	DISTANCES(0, Y4, Y8)                // 8 elements
	DISTANCES(32, Y5, Y9)               // 8 more
	DISTANCES(64, Y6, Y10)              // 8 more
	DISTANCES(96, Y7, Y11)              // 8 more
	VPMINUD Y4, Y5, Y5                  // the least of each lane
	VPMINUD Y6, Y7, Y7
	VPMINUD Y5, Y7, Y7
	VPCMPGTD Y7, VK, Y7                 // all ones where k+1 is greater
	VPTEST Y7, Y7                       // in any lane?
	JNZ  again
	MOVQ STOP, OFF                      // the next 32
	JMP  round

tail:
	MOVQ LEN, STOP                      // fewer than 32 are left
	CMPQ OFF, LEN
	JCC  done

	// Elements [OFF, STOP), one at a time.
again:
	MOVL (XS)(OFF*4), T0                // the element
	XORL Q, T0                          // bits that differ
	POPCNTL T0, T0                      // how many
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
	SHRQ $2, DST
	MOVQ DST, n+64(FP)
	MOVQ OFF, scanned+72(FP)
	VZEROUPPER
	RET
