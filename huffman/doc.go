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
// A block has a fixed number of bytes, 64 to 32,768, and lies between two keys that its caller
// keeps, the fences: the key before its first, and its last. The paper stores every block's first
// key whole, and keeps its last to find the block by; here the fences do both. The first half of the
// block's bytes holds the keys behind the first fence, upwards; the second half those before the last
// key, downwards: for the difference of two neighbours it does not matter which of them is known.
//
//	fence  key  key  key  key  key  key  key  last key
//	   `----'----'----'----'    '----'----'----'
//	     first half, upwards     second half, downwards
//
// So a probe that knows about where in the block its key is unpacks a quarter of it on average, not half, and one
// difference, that between the halves, is not written at all. In each half, numbers are little-endian; bit b is
// bit b%8 of byte b/8.
//
//	byte 0    2                                                             end of the half
//	     | n  | code 1 | code 2 | ... ->         zeros        <- ... | raw 2 | raw 1 |
//	      16 b  codes grow up                                     raw bits grow down
//
// n is the number of differences, 0 or more; the block has as many keys as both its halves
// together, and its last. An odd byte is the second half's. Codes are written LSB first. raw[i] is
// the low h[i] bits of difference i, the XOR of two neighbours, counted from the fence; with S[i] =
// h[1] + ... + h[i] and E = 8 x bytes of the half it occupies the bits E-S[i] up to E-S[i-1]. The
// bits between the last code and the last raw bits are zero.
//
// The paper writes code 1, raw 1, code 2, raw 2, ...: the same bits. Apart, the codes can be looked up
// several at a time, and every raw[i]'s place is a prefix sum away: eight are gathered at once.
//
// # Worked example
//
// Keys 0x13, 0x1c, 0x1000, 0x1002, 0x100b behind the fence 0x10, in a block of 64 bytes, and a code
// that has 0 for h = 1 and 1 for h = 3. Up from 0x10 the XORs are 0x03 and 0x0f, so h = 1, 3 and
// the raw bits are 1 and 111. The next, h = 12, has no code: that ends the half, as an end of its
// room would. Down from 0x100b the XORs are 0x09 and 0x02, so h = 3, 1 and the raw bits are 001 and
// 0.
//
//	bytes  0- 1  02 00       two keys upwards
//	byte   2     02          codes 0 1 from the low bit up: 0b10
//	bytes  3-30  zeros
//	byte  31     f0          raw bits from the top down: 1 111
//	bytes 32-33  02 00       two keys downwards
//	byte  34     01          codes 1 0: 0b01
//	bytes 35-62  zeros
//	byte  63     20          raw bits: 001 0
//
// # What it costs
//
// Size: n distinct uniform keys hold 64 - log2 n + 1.44 bits each. Here a key takes 64 - log2 n +
// 3.41, for any n; a block of 1 KiB adds 0.11 (2^30 keys), and the last key that the caller keeps of a
// block 0.29 (TestSize).
//
// Time: unpacking takes 4.6 to 5.5 cycles a key with AVX-512 (see asm.Decode), with AVX2 7 to 8; packing
// about 20.
//
// # Concurrency
//
// A Code does not change once made and may be used from many goroutines. Everything else is a
// function of its arguments.
package huffman
