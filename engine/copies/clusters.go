package copies

// Clusters returns what pairs connect: for each cluster its documents in order, clusters in order of their first
// document. A contained document connects, so a digest brings its sources together.
func Clusters(documents int, pairs []Pair) [][]uint32 {
	parent := make([]uint32, documents)
	for i := range parent {
		parent[i] = uint32(i)
	}
	root := func(i uint32) uint32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i := range pairs {
		a, b := root(pairs[i].A), root(pairs[i].B)
		parent[max(a, b)] = min(a, b)
	}
	members := map[uint32]int{} // by root: how many, then their cluster
	for i := range parent {
		members[root(uint32(i))]++
	}
	var clusters [][]uint32
	at := map[uint32]int{}
	for i := range parent {
		r := root(uint32(i))
		if members[r] < 2 {
			continue
		}
		if _, ok := at[r]; !ok {
			at[r] = len(clusters)
			clusters = append(clusters, nil)
		}
		clusters[at[r]] = append(clusters[at[r]], uint32(i))
	}
	return clusters
}
