package dedup

import (
	"fmt"
	"strings"

	"ndd/cmd/ndd/cli"
)

// A quality is a name for a choice of -k and --verify, with what it finds: measured with recipe minwise on the 26,000
// documents that package simhash describes, pairs of one origin with a Jaccard of 0.8 and more, by group, English and
// Chinese; wrong are pairs with a Jaccard below 0.5 among those reported.
type quality struct {
	name   string
	k      int
	verify string
	finds  string
}

var qualities = []quality{
	{"fast", 3, "", "94 and 99 % of pairs with a Jaccard of 0.8 and more, 0.2 to 0.7 in 1,000 reported pairs wrong"},
	{"balanced", 6, "jaccard>=0.7", "99.6 and 99.8 % of pairs with a Jaccard of 0.8 and more, at most 1 in 1,000 reported pairs wrong"},
	{"thorough", 8, "jaccard>=0.7", "99.9 % of pairs with a Jaccard of 0.8 and more, at most 1 in 1,000 reported pairs wrong"},
}

// qualityNames returns the names of the qualities.
func qualityNames() (names []string) {
	for _, q := range qualities {
		names = append(names, q.name)
	}
	return names
}

// chooseQuality sets -k and --verify as --quality says, and says what it chose.
func (d *deduping) chooseQuality() error {
	d.verifyFlag = "--verify"
	if d.quality == "" {
		return nil
	}
	if err := d.g.Refuse("is chosen by --quality", "distance", "verify"); err != nil {
		return err
	}
	for _, q := range qualities {
		if q.name != d.quality {
			continue
		}
		d.k, d.verify, d.verifyFlag = q.k, q.verify, "--quality "+q.name
		chosen := fmt.Sprintf("-k %d", q.k)
		if q.verify != "" {
			chosen += fmt.Sprintf(" --verify '%s'", q.verify)
		}
		d.g.Log.Info(fmt.Sprintf("--quality %s is %s: finds %s (English and Chinese; 'ndd help recipes')", q.name, chosen, q.finds))
		return nil
	}
	return cli.Usagef("--quality %q: must be %s", d.quality, strings.Join(qualityNames(), ", "))
}
