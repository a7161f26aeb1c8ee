package simhash

import (
	"math"
	"math/bits"
)

// weigh turns the counts of features into weights, in place. All weights are whole numbers, so that every machine
// makes the same fingerprint; the common factor of 8 leaves room between the square roots and sets words and
// characters on one scale when their weights are of different kinds.
func weigh(times []uint32, weights string) {
	switch weights {
	case WeightsTF:
		for i, t := range times {
			times[i] = weightOne * min(t, math.MaxUint32/weightOne)
		}
	case WeightsSqrtTF:
		for i, t := range times {
			times[i] = sqrtWeight(t)
		}
	case WeightsLogTF:
		for i, t := range times {
			times[i] = weightOne * uint32(bits.Len32(t))
		}
	case WeightsBinary:
		for i := range times {
			times[i] = weightOne
		}
	}
}

// weightOne is the weight of a feature that occurs once.
const weightOne = 8

// sqrtWeight returns floor(8 sqrt(t)). The argument is below 2^38, which a float64 holds exactly, and IEEE 754
// rounds square roots correctly, on every machine.
func sqrtWeight(t uint32) uint32 {
	if t == 1 {
		return weightOne
	}
	return uint32(math.Sqrt(weightOne * weightOne * float64(t)))
}
