package permute

import (
	"testing"
)

func TestCatalogueIsValid(t *testing.T) {
	for k := 0; k <= MaxK; k++ {
		for _, seed := range []uint64{0, 1, 0xfeedfacecafebeef} {
			for _, d := range Catalogue(k, seed) {
				if err := d.Validate(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
