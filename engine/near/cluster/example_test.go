package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"log"

	"example.org/ndd/engine/near/cluster"
)

// ExampleFind represents each cluster by its longest document.
func ExampleFind() {
	fingerprints := []uint64{0b0001, 7 << 20, 0b0011, 0b0111, 7 << 40}
	length := []int{100, 50, 300, 200, 10}
	result, err := cluster.Find(context.Background(), fingerprints, cluster.Options{
		K:      1,
		Prefer: func(a, b int) int { return cmp.Compare(length[b], length[a]) },
	})
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range result.Clusters() {
		fmt.Println("cluster", i, "has rows", c.Rows, "and keeps", c.Representative)
	}
	// Output: cluster 0 has rows [0 2 3] and keeps 2
}
