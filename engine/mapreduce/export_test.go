package mapreduce

import "strings"

// EndOf returns the end record of results.
func EndOf(results string) string {
	e := end{parts: 1}
	for line := range strings.Lines(results) {
		e.count.add(cut([]byte(strings.TrimSuffix(line, "\n"))))
	}
	return endKey + "\t" + string(e.append(nil)) + "\n"
}
