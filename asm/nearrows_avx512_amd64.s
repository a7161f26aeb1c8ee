//go:build !purego

#include "textflag.h"

// nearRowsAVX512 compares each key of a bucket with those after it, 8 at a time: XOR,
// popcount, and the minimum count of each lane, compared with k once a row. Lanes after
// the bucket's end hold ones: 64 bits apart.

#define DST  DI  // address of the next index
#define END  R9  // one past dst
#define KEYS SI  // all keys
#define LEN  R8  // how many there are
#define ENDS BX  // the next bucket's end
#define LEFT CX  // buckets to go
#define FROM R10 // where this bucket begins
#define TO   R11 // and ends
#define I    AX  // this row: index of its key
#define J    DX  // index of the next eight to compare
#define STEP R12 // J + 8
#define T0   R13 // scratch
#define T1   R14 // scratch

#define VQ    Z0 // the row's key in all lanes
#define VK    Z1 // k in all lanes
#define LEAST Z2 // least distance of each lane
#define ONES  Z3 // all ones: greater than any distance

// func nearRowsAVX512(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int)
TEXT ·nearRowsAVX512(SB), NOSPLIT, $0-104
	// The arguments.
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	LEAQ (DST)(END*4), END              // one past dst
	MOVQ keys_base+24(FP), KEYS
	MOVQ keys_len+32(FP), LEN
	MOVQ ends_base+48(FP), ENDS
	MOVQ ends_len+56(FP), LEFT
	MOVL start+72(FP), FROM
	VPBROADCASTQ k+80(FP), VK           // k
	VPTERNLOGD $0xff, ONES, ONES, ONES  // all ones
	TESTQ LEFT, LEFT
	JZ   done

bucket:
	MOVL (ENDS), TO                     // this bucket's end
	CMPQ TO, LEN                        // beyond the keys?
	JA   done
	MOVQ TO, T0
	SUBQ FROM, T0 // TO < FROM: a large number
	CMPQ T0, $1024                      // larger than NearBucketMax?
	JA   done
	LEAQ (DST)(T0*4), T0                // does dst have room for an index a row?
	CMPQ T0, END
	JA   done
	MOVQ FROM, I                        // the first row, and the keys after it
	LEAQ 1(FROM), J
	CMPQ J, TO
	JAE  next

row:
	// for j := i + 1; j+8 <= to; j += 8
	VPBROADCASTQ (KEYS)(I*8), VQ        // this row's key
	VMOVDQA64 ONES, LEAST               // no distance yet
	LEAQ 8(J), STEP                     // eight keys?
	CMPQ STEP, TO
	JA   tail

step:
	VPXORQ   (KEYS)(J*8), VQ, Z4        // bits that differ
	VPOPCNTQ Z4, Z4                     // how many
	VPMINUD  Z4, LEAST, LEAST // counts fit in the low halves
	MOVQ     STEP, J                    // the next eight
	ADDQ     $8, STEP
	CMPQ     STEP, TO                   // if that many remain
	JBE      step

	// The last keys, fewer than eight: a masked load, then ones.
tail:
	MOVQ      TO, T0                    // how many
	SUBQ      J, T0
	MOVL      $0xff, T1                 // a bit for each lane that holds a key
	BZHIL     T0, T1, T1
	KMOVW     T1, K1
	VMOVDQA64 ONES, Z4                  // the others are 64 bits away
	VPXORQ    (KEYS)(J*8), VQ, K1, Z4   // bits that differ
	VPOPCNTQ  Z4, Z4                    // how many
	VPMINUD   Z4, LEAST, LEAST          // the least of all
	VPCMPUQ   $2, VK, LEAST, K2         // is the least distance of any lane k or less?
	KORTESTW  K2, K2
	JNZ       near

rest:
	INCQ I                              // the next row, and the keys after it
	LEAQ 1(I), J
	CMPQ J, TO
	JB   row

next:
	MOVQ TO, FROM                       // the next bucket begins here, and ends at the next end
	ADDQ $4, ENDS
	DECQ LEFT
	JNZ  bucket

done:
	SUBQ dst_base+0(FP), DST            // n indexes, of four bytes each
	SHRQ $2, DST
	MOVQ DST, n+88(FP)
	SUBQ ends_base+48(FP), ENDS         // done buckets, whose ends have four bytes each
	SHRQ $2, ENDS
	MOVQ ENDS, done+96(FP)
	VZEROUPPER                          // SSE code may follow
	RET

near:
	MOVL I, (DST)                       // the row has a near key
	ADDQ $4, DST                        // one index more
	JMP  rest
