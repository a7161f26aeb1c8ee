package permute

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestDocTable checks that the table in the package comment equals the results of the code.
func TestDocTable(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	must.Do(t, err)
	row := regexp.MustCompile(`(?m)^//\t([a-z0-9-]+) +(\d+) ([0-9-]+) +(\d+) +(\d+)  \S`)
	rows := row.FindAllStringSubmatch(string(text), -1)
	named := make(map[string]bool)
	for _, r := range rows {
		d, err := ByName(r[1], 3, 1)
		if err != nil {
			t.Error(err)
			continue
		}
		named[r[1]] = true
		minimum, maximum := d.Leading()
		leading := fmt.Sprint(minimum)
		if maximum > minimum {
			leading += fmt.Sprint("-", maximum)
		}
		probes, buckets := fmt.Sprint(probesOf(&d, 28)), fmt.Sprintf("%.0f", bucketsOf(&d, 28))
		got := []string{fmt.Sprint(len(d.Tables)), leading, probes, buckets}
		for i, g := range got {
			if g != r[i+2] {
				t.Errorf("doc.go says %s for %s, it is %s", r[i+2], r[1], g)
			}
		}
	}
	for _, d := range Catalogue(3, 1) {
		if !named[d.Name] {
			t.Errorf("the table of doc.go does not have %s", d.Name)
		}
	}
}
