package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math/bits"

	"ndd/engine/near/cluster"
)

// Pairs come as they are found, in no order, and nobody keeps them; the loop may end at any time.
func ExamplePairs() {
	fingerprints := []uint64{0xff00, 0xff01, 0xff01, 1 << 63, 1<<63 | 0b1110}
	near := map[int]int{}
	for pair, err := range cluster.Pairs(context.Background(), fingerprints, cluster.Options{K: 3}) {
		if err != nil {
			log.Fatal(err)
		}
		near[bits.OnesCount64(pair.A^pair.B)]++
	}
	fmt.Println(near)
	// Output: map[1:1 3:1]
}

// The longest document of each cluster stands for it.
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
