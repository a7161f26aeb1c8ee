package table

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ndd/engine/oracle/sets"
)

// The predicted bytes are those that are written: to the byte for planar, within 1 %
// and two blocks for huffman, on every shape.
func TestChooseBytes(t *testing.T) {
	for _, set := range sets.All(40000, 0, 3, 5) {
		keys := distinct(set.Base)
		for _, o := range []Options{{Layout: LayoutPlanar}, {Layout: LayoutHuffman}, {Layout: LayoutHuffman, BlockBytes: 256}} {
			w := &counter{}
			if err := Write(w, "", keys, o); err != nil {
				t.Fatal(err)
			}
			choice, err := Choose(keys, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range choice.Costs {
				slack := 0.0
				if o.Layout == LayoutHuffman {
					slack = 0.01*float64(w.bytes) + 2*1032
				}
				if c.Layout == o.Layout && math.Abs(float64(c.Bytes)-float64(w.bytes)) > slack {
					t.Errorf("%s, %v: %d bytes predicted, %d written", set.Name, o, c.Bytes, w.bytes)
				}
				if c.ProbeNs <= 0 {
					t.Errorf("%s, %v: a probe takes %v ns", set.Name, c.Layout, c.ProbeNs)
				}
			}
		}
	}
}

// Uniform keys are planar on any machine; the rule prefers speed but for a fifth
// of the memory.
func TestChoose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, 100000)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	choice, err := Choose(distinct(keys), Options{})
	if err != nil || choice.Layout != LayoutPlanar || !strings.Contains(choice.Reason, "bytes a key") {
		t.Errorf("uniform keys: %+v, %v", choice, err)
	}
	for _, c := range []struct {
		planar, huffman Cost
		want            Layout
		why             string
	}{
		{Cost{LayoutPlanar, 100, 20}, Cost{LayoutHuffman, 100, 900}, LayoutPlanar, "the fastest"},
		{Cost{LayoutPlanar, 100, 20}, Cost{LayoutHuffman, 81, 900}, LayoutPlanar, "less than 20 %"},
		{Cost{LayoutPlanar, 100, 20}, Cost{LayoutHuffman, 79, 900}, LayoutHuffman, "saves 21 %"},
		{Cost{LayoutPlanar, 100, 900}, Cost{LayoutHuffman, 110, 20}, LayoutHuffman, "the fastest"},
		{Cost{LayoutPlanar, 0, 0}, Cost{LayoutHuffman, 0, 0}, LayoutPlanar, "the fastest"},
	} {
		got := choose([]Cost{c.planar, c.huffman}, 10)
		if got.Layout != c.want || !strings.Contains(got.Reason, c.why) {
			t.Errorf("%v, %v: %s, want %s because %q", c.planar, c.huffman, got.Reason, c.want, c.why)
		}
	}
}
