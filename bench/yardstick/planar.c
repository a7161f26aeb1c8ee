// planar BASE QUERIES TABLES: a yardstick in C for exact search within 3 bits, on one thread.
//
// BASE and QUERIES are files of little-endian 64-bit fingerprints; TABLES is 1, 2 or 11, searched
// with radius 3, 1 or 0. A table is the low 32 bits of its sorted keys in one array, a directory of
// groups, Elias-Fano bits, and a packed plane for the bits between, which are read only for a key
// whose low half passed. It prints bytes a fingerprint, and for each of five rounds ns a query with
// the count and checksum of the answers: one term for each query and distinct fingerprint within
// 3 bits of it. Build: gcc -O3 -march=native planar.c; needs AVX2 or AVX-512 VPOPCNTDQ, BMI2,
// and Linux.
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { K = 3, MAX_TABLES = 11, MAX_FLIPS = 8192, ROUNDS = 5 };

typedef struct {
	uint64_t mask;               // these bits lead
	int group_bits, unary_bits;  // of the leading bits: by directory, by Elias-Fano
	int middle_bits;             // between those and the low 32
	uint32_t *groups, *low;
	uint64_t *middle, *unary;
} Table;

static uint64_t *base, *queries;
static size_t base_count, query_count;
static Table tables[MAX_TABLES];
static int table_count, radius;
static uint64_t flips[MAX_FLIPS];
static int flip_count;
static uint64_t results, checksum;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static uint64_t mix(uint64_t z) {
	z += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

// huge returns zeroed memory on huge pages.
static void *huge(size_t bytes) {
	const size_t page = 2 << 20;
	bytes = (bytes + page) / page * page;
	char *p = mmap(0, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	p = (char *)(((uintptr_t)p + page - 1) / page * page);
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static uint64_t *load(const char *path, size_t *count) {
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(1);
	}
	fseek(f, 0, SEEK_END);
	*count = ftell(f) / 8;
	rewind(f);
	uint64_t *words = huge(*count * 8);
	if (fread(words, 8, *count, f) != *count) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return words;
}

static uint64_t permute(uint64_t x, uint64_t mask) {
	return _pext_u64(x, mask) << (64 - __builtin_popcountll(mask)) | _pext_u64(x, ~mask);
}

static uint64_t invert(uint64_t x, uint64_t mask) {
	return _pdep_u64(x >> (64 - __builtin_popcountll(mask)), mask) | _pdep_u64(x, ~mask);
}

// sort leaves the sorted words in a: six passes of eleven bits.
static void sort(uint64_t *a, uint64_t *other, size_t n) {
	for (int shift = 0; shift < 66; shift += 11) {
		size_t start[2049] = {0};
		for (size_t i = 0; i < n; i++)
			start[(a[i] >> shift & 2047) + 1]++;
		for (int i = 0; i < 2048; i++)
			start[i + 1] += start[i];
		for (size_t i = 0; i < n; i++)
			other[start[a[i] >> shift & 2047]++] = a[i];
		uint64_t *swap = a;
		a = other;
		other = swap;
	}
}

static size_t build(Table *t, uint64_t *keys, uint64_t *other) {
	for (size_t i = 0; i < base_count; i++)
		keys[i] = permute(base[i], t->mask);
	sort(keys, other, base_count);
	size_t n = 0;
	for (size_t i = 0; i < base_count; i++)
		if (!i || keys[i] != keys[i - 1])
			keys[n++] = keys[i];
	const uint64_t groups = 1ull << t->group_bits;
	t->groups = huge((groups + 1) * 4);
	t->low = huge(n * 4 + 64);
	t->middle = huge(n * t->middle_bits / 8 + 16);
	t->unary = huge((n + (1ull << (t->group_bits + t->unary_bits))) / 8 + 16);
	size_t k = 0;
	for (uint64_t group = 0; group < groups; group++) {
		t->groups[group] = k;
		for (; k < n && keys[k] >> (64 - t->group_bits) == group; k++) {
			const uint64_t at = (keys[k] >> (32 + t->middle_bits)) + k;
			t->low[k] = (uint32_t)keys[k];
			t->unary[at >> 6] |= 1ull << (at & 63);
			if (t->middle_bits) {
				const uint64_t bits = keys[k] >> 32 & ((1ull << t->middle_bits) - 1);
				const size_t bit = k * t->middle_bits;
				t->middle[bit >> 6] |= bits << (bit & 63);
				if ((bit & 63) + t->middle_bits > 64)
					t->middle[(bit >> 6) + 1] |= bits >> (64 - (bit & 63));
			}
		}
	}
	t->groups[groups] = n;
	return n;
}

// rebuild returns key k, of a group that begins with key first.
static uint64_t rebuild(const Table *t, uint64_t group, uint32_t first, uint32_t k) {
	const uint64_t from = (group << t->unary_bits) + first;
	uint32_t rank = k - first;
	uint64_t word = from >> 6, ones = t->unary[word] & ~0ull << (from & 63);
	for (uint32_t count; rank >= (count = __builtin_popcountll(ones)); ones = t->unary[++word])
		rank -= count;
	const uint64_t bucket = word * 64 + __builtin_ctzll(_pdep_u64(1ull << rank, ones)) - k;
	uint64_t bits = 0;
	if (t->middle_bits) {
		const size_t bit = (size_t)k * t->middle_bits;
		bits = t->middle[bit >> 6] >> (bit & 63);
		if ((bit & 63) + t->middle_bits > 64)
			bits |= t->middle[(bit >> 6) + 1] << (64 - (bit & 63));
		bits &= (1ull << t->middle_bits) - 1;
	}
	return bucket << (32 + t->middle_bits) | bits << 32 | t->low[k];
}

// within returns which of 16 words are within most bits of a key.
#ifdef __AVX512VPOPCNTDQ__
static uint32_t within(const uint32_t *words, uint32_t key, int most) {
	const __m512i diff = _mm512_xor_si512(_mm512_loadu_si512(words), _mm512_set1_epi32(key));
	return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(diff), _mm512_set1_epi32(most));
}
#else
static uint32_t within8(const uint32_t *words, uint32_t key, int most) {
	const __m128i four = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4); // bits of a nibble
	const __m256i counts = _mm256_broadcastsi128_si256(four), nibble = _mm256_set1_epi8(15);
	const __m256i diff = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)words), _mm256_set1_epi32(key));
	__m256i n = _mm256_add_epi8(_mm256_shuffle_epi8(counts, _mm256_and_si256(diff, nibble)),
		_mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi32(diff, 4), nibble)));
	n = _mm256_madd_epi16(_mm256_maddubs_epi16(n, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
	return 255 & ~_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(n, _mm256_set1_epi32(most))));
}

static uint32_t within(const uint32_t *words, uint32_t key, int most) {
	return within8(words, key, most) | within8(words + 8, key, most) << 8;
}
#endif

// report counts an answer, unless an earlier table has found it.
static void report(size_t query, int table, uint64_t diff) {
	for (int earlier = 0; earlier < table; earlier++) {
		const Table *t = &tables[earlier];
		if (__builtin_popcountll(permute(diff, t->mask) >> (64 - t->group_bits)) <= radius)
			return;
	}
	results++;
	checksum += mix(mix(query) ^ queries[query] ^ diff);
}

static void search(size_t query) {
	static uint32_t from[MAX_FLIPS], to[MAX_FLIPS];
	for (int i = 0; i < table_count; i++) {
		const Table *t = &tables[i];
		const uint64_t key = permute(queries[query], t->mask), group = key >> (64 - t->group_bits);
		for (int f = 0; f < flip_count; f++)
			__builtin_prefetch(&t->groups[group ^ flips[f]]);
		for (int f = 0; f < flip_count; f++) {
			from[f] = t->groups[group ^ flips[f]];
			to[f] = t->groups[(group ^ flips[f]) + 1];
			for (uint32_t line = from[f] & ~15u; line < to[f]; line += 16)
				__builtin_prefetch(t->low + line);
		}
		for (int f = 0; f < flip_count; f++) {
			const int most = K - __builtin_popcountll(flips[f]);
			for (uint32_t j = from[f]; j < to[f]; j += 16) {
				uint32_t passed = within(t->low + j, (uint32_t)key, most);
				if (to[f] - j < 16)
					passed &= (1u << (to[f] - j)) - 1;
				for (; passed; passed &= passed - 1) {
					const uint64_t found = rebuild(t, group ^ flips[f], from[f], j + __builtin_ctz(passed));
					const uint64_t d = invert(found ^ key, t->mask);
					if (__builtin_popcountll(d) <= K)
						report(query, i, d);
				}
			}
		}
	}
}

// mask returns the bits that lead in a table: all, a half, or five of eleven blocks (the
// quadratic residues modulo 11, shifted), of which one avoids any three blocks.
static uint64_t mask(int table) {
	static const int residues[] = {1, 3, 4, 5, 9};
	if (table_count < 3)
		return table ? 0xffffffff : 0xffffffff00000000;
	uint64_t m = 0;
	for (int r = 0; r < 5; r++) {
		const int block = (residues[r] + table) % 11;
		for (int bit = block * 64 / 11; bit < (block + 1) * 64 / 11; bit++)
			m |= 1ull << bit;
	}
	return m;
}

static void flip(uint64_t set, int from, int left) {
	flips[flip_count++] = set;
	for (int bit = from; left && bit < tables[0].group_bits; bit++)
		flip(set | 1ull << bit, bit + 1, left - 1);
}

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: planar BASE QUERIES 1|2|11\n");
		return 2;
	}
	base = load(argv[1], &base_count);
	queries = load(argv[2], &query_count);
	table_count = atoi(argv[3]);
	radius = table_count == 1 ? 3 : table_count == 2 ? 1 : 0;
	const int log = 63 - __builtin_clzll(base_count);
	for (int i = 0; i < table_count; i++) {
		const uint64_t m = mask(i);
		int group = log - 4, unary;
		if (group > __builtin_popcountll(m))
			group = __builtin_popcountll(m);
		unary = log - group;
		if (group + unary > 32)
			unary = 32 - group;
		tables[i] = (Table){.mask = m, .group_bits = group, .unary_bits = unary, .middle_bits = 32 - group - unary};
	}
	flip(0, 0, radius);
	uint64_t *keys = huge(base_count * 8), *other = huge(base_count * 8);
	double bits = 0, began = now();
	size_t distinct = 0;
	for (int i = 0; i < table_count; i++) {
		const Table *t = &tables[i];
		distinct = build(&tables[i], keys, other);
		bits += 33 + t->middle_bits + (double)(1ull << (t->group_bits + t->unary_bits)) / distinct + 32.0 * (1ull << t->group_bits) / distinct;
	}
	printf("bytes=%.3f build=%.6f\n", bits / 8, now() - began);
	munmap(keys, base_count * 8);
	munmap(other, base_count * 8);
	for (int round = 0; round < ROUNDS; round++) {
		results = checksum = 0;
		began = now();
		for (size_t i = 0; i < query_count; i++)
			search(i);
		printf("ns=%.1f results=%lu checksum=%016lx\n", (now() - began) / query_count * 1e9, results, checksum);
	}
	return 0;
}
