// Package huffman packs sorted distinct 64-bit keys into blocks of fixed size, like Manku, Jain and Das Sarma (WWW
// 2007, section 3.2). It unpacks several hundred million keys a second.
//
// # The idea
//
// Two neighbours in a sorted set of n uniform keys agree in about log2 n leading bits. A block stores the position of
// the first difference between a key and its predecessor, and the bits below that position. The bit at the position
// itself is always 0 before and 1 after, because the keys ascend:
//
//	key[i-1]   0110 1001 1|0|01 1101
//	key[i]     0110 1001 1|1|11 0010
//	XOR        0000 0000 0|1|10 1111        h = 6: the position of the most significant 1
//	                         `------'       raw: the h bits below it
//
// The positions h of uniform keys cluster just above 64 - log2 n, so a Huffman code writes them in about 2.7 bits.
// The code is built from the keys of the table itself (Count, NewCode). So it adapts to every distribution of keys.
//
// # The block
//
// A block has a fixed number of bytes, 64 to 32,768. Its caller stores two keys, the fences: the key before the
// block's first key, and its last key. The paper stores every block's first key in the block, and its last key for
// the search. Here, the fences serve both purposes. The first half of the block contains the keys after the first
// fence, upwards. The second half contains the keys before the last key, downwards. The difference of two neighbours
// is the same in both directions.
//
//	fence  key  key  key  key  key  key  key  last key
//	   `----'----'----'----'    '----'----'----'
//	     first half, upwards     second half, downwards
//
// So a probe that knows the approximate position of its key unpacks a quarter of the block on average, not half. The
// difference between the two halves is not stored at all. In each half, numbers are little-endian. Bit b is bit b%8
// of byte b/8.
//
//	byte 0    2                                                             end of the half
//	     | n  | code 1 | code 2 | ... ->         zeros        <- ... | raw 2 | raw 1 |
//	      16 b  codes grow up                                     raw bits grow down
//
// n is the number of differences and may be 0. The block has the keys of both halves and its last key. If the number
// of bytes is odd, the second half has one byte more. Codes are written LSB first. raw[i] is the low h[i] bits of
// difference i, the XOR of two neighbours, counted from the fence. Let S[i] = h[1] + ... + h[i], and let E be the
// number of bits of the half. Then raw[i] occupies the bits E-S[i] up to E-S[i-1]. The bits between the last code and
// the last raw bits are zero.
//
// The paper writes the same bits in the order code 1, raw 1, code 2, raw 2, ... Because codes and raw bits are
// separate here, one look-up decodes several codes. A prefix sum gives the position of every raw[i], so that eight
// are gathered at once.
//
// # Worked example
//
// The keys 0x13, 0x1c, 0x1000, 0x1002, 0x100b follow the fence 0x10, in a block of 64 bytes. The code has 0 for h = 1
// and 1 for h = 3. Upwards from 0x10 the XORs are 0x03 and 0x0f, so h = 1, 3 and the raw bits are 1 and 111. The next
// h, 12, has no code. This ends the half, as a full half would. Downwards from 0x100b the XORs are 0x09 and 0x02, so
// h = 3, 1 and the raw bits are 001 and 0.
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
// Size: n distinct uniform keys contain 64 - log2 n + 1.44 bits each. Here a key takes 64 - log2 n + 3.41 bits, for
// every n. A block of 1 KiB adds 0.11 bits (2^30 keys). The last key of a block, which the caller stores, adds 0.29
// bits (TestSize).
//
// Time: unpacking takes 4.6 to 5.5 cycles per key with AVX-512 (see asm.Decode), and 7 to 8 with AVX2. Packing takes
// about 20.
//
// # Concurrency
//
// A Code is immutable and safe for concurrent use. All other functions depend only on their arguments.
package huffman
