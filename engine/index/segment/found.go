package segment

// MatchLists holds the matches of many queries. It may be read from many goroutines.
type MatchLists struct {
	ends         []int // end of each query's fingerprints
	fingerprints []uint64
}

// Len returns the number of matches.
func (f *MatchLists) Len() int { return len(f.fingerprints) }

// Fingerprints returns the fingerprints that match a query, in no order.
func (f *MatchLists) Fingerprints(query int) []uint64 {
	if query == 0 {
		return f.fingerprints[:f.ends[0]]
	}
	return f.fingerprints[f.ends[query-1]:f.ends[query]]
}

// collect returns the matches ordered by query, by a counting sort.
func (w *sweep) collect() *MatchLists {
	f := &MatchLists{ends: make([]int, len(w.queries))}
	total := 0
	for _, list := range w.matches {
		total += len(list)
		for _, m := range list {
			if m.Query+1 < len(f.ends) {
				f.ends[m.Query+1]++
			}
		}
	}
	for i := 1; i < len(f.ends); i++ {
		f.ends[i] += f.ends[i-1]
	}
	f.fingerprints = make([]uint64, total)
	for _, list := range w.matches { // ends[q] moves from the beginning of q to its end
		for _, m := range list {
			f.fingerprints[f.ends[m.Query]] = m.Fingerprint
			f.ends[m.Query]++
		}
	}
	return f
}
