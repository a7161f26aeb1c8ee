//go:build !purego

#include "textflag.h"

// nearRowsAVX512 compares each key of a run with those behind it, 8 at a time: XOR,
// popcount, and the least count of each lane, compared with k once a row. Lanes behind
// the run's end hold ones: 64 bits apart.

#define DST  DI
#define END  R9
#define KEYS SI
#define LEN  R8
#define ENDS BX
#define LEFT CX
#define FROM R10
#define TO   R11
#define I    AX
#define J    DX
#define STEP R12 // J + 8
#define T0   R13
#define T1   R14

#define VQ    Z0
#define VK    Z1
#define LEAST Z2
#define ONES  Z3

// func nearRowsAVX512(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int)
TEXT ·nearRowsAVX512(SB), NOSPLIT, $0-104
	MOVQ dst_base+0(FP), DST
	MOVQ dst_len+8(FP), END
	LEAQ (DST)(END*4), END
	MOVQ keys_base+24(FP), KEYS
	MOVQ keys_len+32(FP), LEN
	MOVQ ends_base+48(FP), ENDS
	MOVQ ends_len+56(FP), LEFT
	MOVL from+72(FP), FROM
	VPBROADCASTQ k+80(FP), VK
	VPTERNLOGD $0xff, ONES, ONES, ONES
	TESTQ LEFT, LEFT
	JZ   done

run:
	MOVL (ENDS), TO
	CMPQ TO, LEN
	JA   done
	MOVQ TO, T0
	SUBQ FROM, T0 // TO < FROM: a large number
	CMPQ T0, $1024
	JA   done
	LEAQ (DST)(T0*4), T0
	CMPQ T0, END
	JA   done
	MOVQ FROM, I
	LEAQ 1(FROM), J
	CMPQ J, TO
	JAE  next

row:
	// for j := i + 1; j+8 <= to; j += 8
	VPBROADCASTQ (KEYS)(I*8), VQ
	VMOVDQA64 ONES, LEAST
	LEAQ 8(J), STEP
	CMPQ STEP, TO
	JA   tail

step:
	VPXORQ   (KEYS)(J*8), VQ, Z4
	VPOPCNTQ Z4, Z4
	VPMINUD  Z4, LEAST, LEAST // counts fit in the low halves
	MOVQ     STEP, J
	ADDQ     $8, STEP
	CMPQ     STEP, TO
	JBE      step

tail:
	MOVQ      TO, T0
	SUBQ      J, T0
	MOVL      $0xff, T1
	BZHIL     T0, T1, T1
	KMOVW     T1, K1
	VMOVDQA64 ONES, Z4
	VPXORQ    (KEYS)(J*8), VQ, K1, Z4
	VPOPCNTQ  Z4, Z4
	VPMINUD   Z4, LEAST, LEAST
	VPCMPUQ   $2, VK, LEAST, K2
	KORTESTW  K2, K2
	JNZ       near

rest:
	INCQ I
	LEAQ 1(I), J
	CMPQ J, TO
	JB   row

next:
	MOVQ TO, FROM
	ADDQ $4, ENDS
	DECQ LEFT
	JNZ  run

done:
	SUBQ dst_base+0(FP), DST
	SHRQ $2, DST
	MOVQ DST, n+88(FP)
	SUBQ ends_base+48(FP), ENDS
	SHRQ $2, ENDS
	MOVQ ENDS, done+96(FP)
	VZEROUPPER
	RET

near:
	MOVL I, (DST)
	ADDQ $4, DST
	JMP  rest
