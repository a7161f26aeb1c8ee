// Search looks for schemes of the catalogue: families of tables over blocks, of as few tables and as
// many leading blocks as it can find. What it finds it prints in the catalogue's own notation, to be
// pasted there; the catalogue's tests prove it again.
//
//	go run ./permute/internal/search -k 3 -points 8 -lead 4 -radii 0x14
//	go run ./permute/internal/search -k 2 -sweep 0x3-20
//	go run ./permute/internal/search -k 5 -sweep 2x1-8,1x0-4
//
// The first form looks for one scheme: 14 tables of radius 0, each led by 4 of 8 blocks, for k = 3.
// The second sweeps: for every number of tables in the range it looks for the largest share of
// leading blocks, and prints a line whenever more tables bring more. The list after -radii and -sweep
// is RADIUSxTABLES, or RADIUSxFROM-TO.
//
// Method: simulated annealing, as Nurmela and Östergård did for coverings ("Upper bounds for covering
// designs by simulated annealing", 1993). The state is T sets of -lead points; the cost is the number
// of error patterns (ways to spread k errors over the points) that no table finds; a move swaps a
// point of one set for one outside it. Most families here are small enough to be found in
// milliseconds; -seconds bounds the time for each, and what is not found in it may still exist.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	k := flag.Int("k", 3, "errors")
	points := flag.Int("points", 0, "blocks; 0: sweep them")
	lead := flag.Int("lead", 0, "leading blocks of each table")
	radii := flag.String("radii", "", "tables of each radius, as RADIUSxTABLES,...")
	sweep := flag.String("sweep", "", "the same with ranges, as RADIUSxFROM-TO,...")
	most := flag.Int("most", 13, "most blocks of a sweep")
	seconds := flag.Float64("seconds", 2, "time for each search")
	seed := flag.Uint64("seed", 1, "seed of the random moves")
	flag.Parse()

	s := searcher{k: *k, limit: time.Duration(*seconds * float64(time.Second)), seed: *seed, out: os.Stdout}
	err := run(&s, *radii, *sweep, *points, *lead, *most)
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(2)
	}
}

func run(s *searcher, radii, sweep string, points, lead, most int) error {
	if s.k < 1 || s.k > 8 || points < 0 || points > 26 || most > 26 {
		return fmt.Errorf("want k = 1 to 8 and at most 26 blocks")
	}
	if sweep != "" {
		ranges, err := parse(sweep)
		if err != nil {
			return err
		}
		s.sweep(ranges, most)
		return nil
	}
	ranges, err := parse(radii)
	if err != nil {
		return err
	}
	if lead < 1 || lead > points {
		return fmt.Errorf("want -lead of 1 to -points")
	}
	var list []int
	for _, r := range ranges {
		for range r.from {
			list = append(list, r.radius)
		}
	}
	sets, ok := s.find(points, lead, list)
	if !ok {
		return fmt.Errorf("nothing found in %v", s.limit)
	}
	fmt.Fprintln(s.out, spell(sets, list))
	return nil
}

// tableRange is a number of tables of one radius.
type tableRange struct{ radius, from, to int }

func parse(text string) ([]tableRange, error) {
	var list []tableRange
	for _, part := range strings.Split(text, ",") {
		radius, count, ok := strings.Cut(part, "x")
		from, to, isRange := strings.Cut(count, "-")
		if !isRange {
			to = from
		}
		r, err1 := strconv.Atoi(radius)
		a, err2 := strconv.Atoi(from)
		b, err3 := strconv.Atoi(to)
		if !ok || err1 != nil || err2 != nil || err3 != nil || r < 0 || r > 8 || a < 0 || b < a || b > 256 {
			return nil, fmt.Errorf("%q: want RADIUSxTABLES or RADIUSxFROM-TO", part)
		}
		list = append(list, tableRange{r, a, b})
	}
	return list, nil
}

// spell writes a family as the catalogue does: letters for the leading blocks, then the radius if it
// is not 0.
func spell(sets []uint32, radii []int) string {
	words := make([]string, len(sets))
	for i, set := range sets {
		for p := range 26 {
			if set>>p&1 == 1 {
				words[i] += string(rune('a' + p))
			}
		}
		if radii[i] > 0 {
			words[i] += strconv.Itoa(radii[i])
		}
	}
	return strings.Join(words, " ")
}
