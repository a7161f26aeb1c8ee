package copies

import (
	"encoding/json"
	"testing"

	"example.org/ndd/engine/copies/spotsigs"
)

// TestRecipeInJSON checks that files hold recipes in a form that does not change.
func TestRecipeInJSON(t *testing.T) {
	const lists = `"lists":"x","lists_digest":"4d95f7d34969b8a9","antecedents":[7],"stops":[8,9],`
	for want, o := range map[string]Options{
		`{"version":2,"method":"ccdet","min_features":3,"bags":true,"ends":".!","lists":"wide",` +
			`"lists_digest":"e20af04980ca9f08","distance":1,"chain":2,"words":5,"chars":8,"window":16,` +
			`"shingle_words":3,"shingle_chars":5}`: {Method: CCDet, MinFeatures: 3, Bags: true, Ends: ".!"},
		`{"version":2,"method":"auto","ends":"。！？；",` + lists + `"distance":1,"chain":2,"words":5,"chars":8,` +
			`"window":16,"shingle_words":3,"shingle_chars":5}`: {SpotSigs: spotsigs.Options{
			Lists: spotsigs.FromHashes("x", []uint64{7}, []uint64{8, 9})}},
	} {
		if got, err := json.Marshal(o.Recipe()); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
