package permute

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// The designs of the paper. All have radius 0: a table finds the fingerprints without errors in its leading bits.

// choose returns the paper's general scheme: m blocks, and a table for each choice of j leading blocks. It is valid
// for k <= m-j: at most k blocks have errors, so j other blocks agree. It has C(m, j) tables of about 64*j/m leading
// bits. Its name is choose-M-J.
func choose(m, j, k int, seed uint64) (Design, error) {
	name := fmt.Sprintf("choose-%d-%d", m, j)
	if m < 1 || m > 64 || j < 1 || j > m {
		return Design{}, fmt.Errorf("design %s: want 1 to 64 blocks, and at least one of them to lead", name)
	}
	if k < 0 || k > m-j {
		return Design{}, fmt.Errorf("design %s: supports k = 0 to %d, not %d", name, m-j, k)
	}
	return nest(name, k, []level{{m, j}}, seed)
}

// paper returns one of the four designs of the paper for k = 3 (section 3.1.1), by its number of tables:
//
//	 4   4 blocks of 16 bits, 1 leads                                  16 leading bits
//	10   5 blocks of 12-13, 2 lead                                     25-26
//	16   4 blocks of 16, 1 leads; the other 48 in 4 of 12, 1 follows   28
//	20   6 blocks of 10-11, 3 lead                                     31-33
func paper(tables, k int, seed uint64) (Design, error) {
	name := fmt.Sprintf("paper-%d", tables)
	levels := map[int][]level{
		4: {{4, 1}}, 10: {{5, 2}}, 16: {{4, 1}, {4, 1}}, 20: {{6, 3}},
	}[tables]
	if levels == nil {
		return Design{}, fmt.Errorf("design %s: the paper has 4, 10, 16 and 20 tables", name)
	}
	if k < 0 || k > 3 {
		return Design{}, fmt.Errorf("design %s: supports k = 0 to 3, not %d", name, k)
	}
	return nest(name, k, levels, seed)
}

// nestedDesign applies choose recursively. Of m[0] blocks, k do not lead. Their bits are divided into m[1] blocks, and
// again k of these do not lead, and so on. All errors may be in the bits that do not lead, so each level is valid for
// the same reason as the first one. The number of tables is the product of the C(m[i], k), or less if two choices
// give the same mask. Its name is nested-M-M-...
func nestedDesign(m []int, k int, seed uint64) (Design, error) {
	name := "nested"
	levels := make([]level, len(m))
	for i, blocks := range m {
		name += fmt.Sprintf("-%d", blocks)
		levels[i] = level{blocks, blocks - k}
	}
	if k < 1 || k > MaxK || len(m) == 0 {
		return Design{}, fmt.Errorf("design %s: want k = 1 to %d and at least one level, not k = %d", name, MaxK, k)
	}
	return nest(name, k, levels, seed)
}

// level divides the remaining bits into blocks. lead of the blocks join the leading bits.
type level struct{ blocks, lead int }

func nest(name string, k int, levels []level, seed uint64) (Design, error) {
	d := Design{Name: name, K: k, Seed: seed}
	// Check the levels and the number of tables.
	tables := uint64(1)
	for _, l := range levels {
		if l.lead < 1 || l.lead > l.blocks || l.blocks > 64 {
			return Design{}, fmt.Errorf("design %s: cannot let %d of %d blocks lead", name, l.lead, l.blocks)
		}
		if tables *= min(Binomial(l.blocks, l.lead), MaxTables+1); tables > MaxTables {
			return Design{}, fmt.Errorf("design %s: more than %d tables", name, MaxTables)
		}
	}
	// split adds the tables of one choice of leading blocks, level by level.
	var split func(mask uint64, remaining []int, levels []level) error
	order := shufflePlaces(seed)
	split = func(mask uint64, remaining []int, levels []level) error {
		if len(levels) == 0 {
			// Two choices give the same mask if blocks of two levels end at the same bits.
			if t := (Table{Mask: mask}); !slices.Contains(d.Tables, t) {
				d.Tables = append(d.Tables, t)
			}
			return nil
		}
		l := levels[0]
		if l.blocks > len(remaining) {
			return fmt.Errorf("design %s: %d blocks in %d bits", name, l.blocks, len(remaining))
		}
		blocks := cut(remaining, even(len(remaining), l.blocks))
		for _, leading := range subsets(l.blocks, l.lead) {
			lead, stay := mask, []int(nil)
			for i, block := range blocks {
				if leading>>i&1 == 0 {
					stay = append(stay, block...)
					continue
				}
				for _, place := range block {
					lead |= 1 << order[place]
				}
			}
			if err := split(lead, stay, levels[1:]); err != nil {
				return err
			}
		}
		return nil
	}
	// Start with all 64 bits.
	all := make([]int, 64)
	for i := range all {
		all[i] = i
	}
	if err := split(0, all, levels); err != nil {
		return Design{}, err
	}
	return d, nil
}

// cut splits positions into runs of the given sizes.
func cut(places, sizes []int) [][]int {
	runs := make([][]int, len(sizes))
	for i, size := range sizes {
		runs[i], places = places[:size], places[size:]
	}
	return runs
}

// subsets returns the subsets of m elements with j elements, as bit sets: {0, 1, ...} first.
func subsets(m, j int) []uint64 {
	var list []uint64
	for x, n := uint64(1)<<j-1, Binomial(m, j); n > 0; n-- {
		list = append(list, bits.Reverse64(x<<(64-m)))
		x = nextWord(x)
	}
	// Reversed words of ascending order descend in their first elements, so reverse the list.
	slices.Reverse(list)
	return list
}

// numbers parses the part of a name such as choose-5-2 after its first word. It returns nil if a part is not a
// number.
func numbers(list string) (n []int) {
	for part := range strings.SplitSeq(list, "-") {
		v, err := strconv.ParseUint(part, 10, 17)
		if err != nil || part[0] == '0' {
			return nil
		}
		n = append(n, int(v))
	}
	return n
}
