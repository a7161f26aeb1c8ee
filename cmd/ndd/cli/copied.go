package cli

import (
	"fmt"

	"ndd/engine/near/dedup"
)

// SayCopied names the files of a copy that are not what the user may expect, and counts the documents.
func (g *Globals) SayCopied(r dedup.CopyReport) {
	for _, of := range []struct {
		files []string
		what  string
	}{
		{r.Unjudged, "copied as it is, because nothing of it could be compared"},
		{r.Repacked, "copied with the ending .zst: its compression can be read and not written"},
		{r.Lost, "could not be read, and is in no copy"},
	} {
		for i, path := range of.files {
			if i == NamedMax {
				g.Log.Warn(fmt.Sprintf("%s more: %s", Number(len(of.files)-i, "file"), of.what))
				break
			}
			g.Log.Warn(path + ": " + of.what)
		}
	}
	for i, u := range r.Uncut {
		if i == NamedMax {
			g.Log.Warn(Number(len(r.Uncut)-i, "file") + " more with documents that were copied whole")
			break
		}
		g.Log.Warn(fmt.Sprintf("%s: %s with spans that go: copied whole, because the text does not lie in the file as it "+
			"was read", u.File, Number(u.Documents, "document")))
	}
	if r.Unnoted > 0 {
		g.Log.Warn(Number(r.Unnoted, "record") + " without fields: broken, too large, or an empty object")
	}
}

// NamedMax is how many files are named before the rest is counted.
const NamedMax = 20
