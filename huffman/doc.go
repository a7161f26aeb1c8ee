// Package huffman packs sorted distinct 64-bit keys into blocks of fixed size, as Manku, Jain and
// Das Sarma do (WWW 2007, section 3.2), and unpacks them at several hundred million keys a second.
//
// # The idea
//
// Two neighbours in a sorted set of n uniform keys agree in about their log2 n leading bits. What
// is stored of a key is where it first differs from its predecessor, and the bits after that place;
// the bit at the place itself is always 0 before and 1 after, because the keys ascend:
//
//	key[i-1]   0110 1001 1|0|01 1101
//	key[i]     0110 1001 1|1|11 0010
//	XOR        0000 0000 0|1|10 1111        h = 6: the position of the most significant 1
//	                         `------'       raw: the h bits below it
//
// The h of uniform keys cluster just above 64 - log2 n, so that a Huffman code writes them in about
// 2.7 bits. The code is built from the very keys of a table (Count, NewCode), so it follows
// whatever skew they have.
//
// # The block
//
// A block has a fixed number of bytes, 64 to 32,768. Numbers are little-endian; bit b of a block is
// bit b%8 of its byte b/8.
//
//	byte 0    2            10                                                         end
//	     | n  | first key  | code 1 | code 2 | ... ->   zeros   <- ... | raw 2 | raw 1 |
//	      16 b    64 b       codes grow up                              raw bits grow down
//
// n is the number of keys, 1 or more. Codes are written LSB first. raw[i] is the low h[i] bits of
// key[i] XOR key[i-1]; with S[i] = h[1] + ... + h[i] and E = 8 x bytes it occupies the bits E-S[i]
// up to E-S[i-1]. The bits between the last code and the last raw bits are zero.
//
// The paper writes code 1, raw 1, code 2, raw 2, ...: the same bits, so exactly the same size.
// Apart, the codes can be looked up several at a time, and, once the h are known, every raw[i]'s
// place is a prefix sum away: eight are gathered at once.
//
// # Worked example
//
// Keys 0x10, 0x13, 0x1c, 0x20 in a block of 64 bytes. The XORs of neighbours are 0x03, 0x0f and
// 0x3c, so h = 1, 3, 5 and the raw bits are 1 of 1 (1), 111 and 11100. One count each gives the
// lengths 1: 2 bits, 3: 2 bits, 5: 1 bit; canonical codes in order of length, then h: 5 = 0, 1 =
// 10, 3 = 11, first bit first.
//
//	bytes  0- 1  04 00                     n = 4
//	bytes  2- 9  10 00 00 00 00 00 00 00   first key
//	byte  10     0d                        codes 10 11 0 from the low bit up: 0b01101
//	bytes 11-61  zeros
//	bytes 62-63  00 fe                     raw bits from the top down: 1 111 11100
//
// # What it costs
//
// Size: n distinct uniform keys hold 64 - log2 n + 1.44 bits each. Here a key takes 64 - log2 n +
// 3.41, for any n; a block of 1 KiB adds 0.30 (2^30 keys) for its head and for the bits that no
// further key fits into, and the search key that the caller keeps for a block 0.29 more. TestSize
// holds these.
//
// Time: a block of 1 KiB is 16 cache lines and 217 keys of 2^30 uniform ones. Unpacking takes 4
// cycles a key with AVX-512, 5 with AVX2, 9 in plain Go (see asm.Decode); packing about 20.
//
// # Concurrency
//
// A Code does not change once made and may be used from many goroutines. Everything else is a
// function of its arguments.
package huffman
