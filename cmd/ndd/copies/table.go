package copies

import (
	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/result"
)

// copyColumns are those of a table of pairs, and of one of clusters.
var (
	copyColumns = []result.Column{{Name: "id_a", Kind: result.Text}, {Name: "id_b", Kind: result.Text}, {Name: "relation", Kind: result.Text},
		{Name: "score", Kind: result.Real}, {Name: "a_in_b", Kind: result.Real}, {Name: "b_in_a", Kind: result.Real},
		{Name: "size_a", Kind: result.Integer}, {Name: "size_b", Kind: result.Integer}, {Name: "shared", Kind: result.Integer},
		{Name: "method", Kind: result.Text}, {Name: "flags", Kind: result.Text}}
	copyClusterColumns = []result.Column{{Name: "cluster", Kind: result.Integer}, {Name: "id", Kind: result.Text}}
)

// writeCopies writes the pairs that are listed, and the clusters that all pairs connect.
func writeCopies(g *cli.Globals, ids []string, pairs, listed []copies.Pair, f *copiesFlags) error {
	if f.clusters != "" {
		if err := g.WriteTable(f.clusters, f.format.Format, copyClusterColumns, func(t *result.TableWriter) error {
			return writeCopyClusters(t, ids, copies.Clusters(len(ids), pairs))
		}); err != nil {
			return err
		}
	}
	return g.WriteTable(f.out, f.format.Format, copyColumns, func(t *result.TableWriter) error {
		for i := range listed {
			if err := writeCopy(t, ids[listed[i].A], ids[listed[i].B], &listed[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeCopy writes one pair.
func writeCopy(t *result.TableWriter, a, b string, p *copies.Pair) error {
	t.Text(a).Text(b).Text(string(p.Relation)).Real(p.Score).Real(p.ContainmentA()).Real(p.ContainmentB())
	t.Integer(int64(p.SizeA)).Integer(int64(p.SizeB)).Integer(int64(p.Shared))
	return t.Text(string(p.Method)).Text(p.Flags.String()).End()
}

func writeCopyClusters(t *result.TableWriter, ids []string, clusters [][]uint32) error {
	for i, docs := range clusters {
		for _, doc := range docs {
			if err := t.Integer(int64(i + 1)).Text(ids[doc]).End(); err != nil {
				return err
			}
		}
	}
	return nil
}
