package main

import (
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/ndf"
	"ndd/engine/segment"
	"ndd/engine/table"
	"ndd/permute"
)

// designFlags choose the tables of an index.
type designFlags struct {
	k      int
	tables string
	design string
}

func (d *designFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "largest Hamming distance that the index will be asked for, 0 to 8")
	f.StringVar(&d.tables, "tables", "auto", "number of tables, or auto")
	f.StringVar(&d.design, "design", "", "design by name, such as paper-10 or choose-5-2, instead of --tables")
}

// choose is the design for n fingerprints.
func (d *designFlags) choose(n uint64) (permute.Design, error) {
	if d.k < 0 || d.k > permute.MaxK {
		return permute.Design{}, usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	if d.design != "" {
		if d.tables != "auto" {
			return permute.Design{}, usagef("--design and --tables exclude each other")
		}
		design, err := permute.Named(d.design, d.k, 1)
		if err != nil {
			return design, usagef("--design: %w", err)
		}
		return design, nil
	}
	tables := 0
	if d.tables != "auto" {
		var err error
		if tables, err = strconv.Atoi(d.tables); err != nil || tables < 1 {
			return permute.Design{}, usagef("--tables %q: must be auto or a number from 1", d.tables)
		}
	}
	design, err := engine.ChooseDesign(n, d.k, tables)
	if err != nil {
		return design, usagef("--tables: %w", err)
	}
	return design, nil
}

func newBuild(g *globals) *cobra.Command {
	var design designFlags
	var out, layout string
	cmd := &cobra.Command{
		Use:   "build -o INDEX FILE...",
		Short: "Build an index from fingerprint files",
		Long: `Build an index, a folder, from fingerprint files: .ndf, or raw arrays of
little-endian 64-bit integers (.bin). Ids are the names in the files, or else
row numbers from 0 over all files. The index appears when it is complete.`,
		Example: `  ndd build -o index pages.ndf
  ndd build -o index -k 3 --tables 10 base.bin`,
		Args: someArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("no -o INDEX given")
			}
			if layout != "auto" && layout != string(table.LayoutHuffman) {
				return usagef("--layout %q: must be auto or %s", layout, table.LayoutHuffman)
			}
			files, err := openPrints(args)
			if err != nil {
				return err
			}
			defer closePrints(files)
			return g.build(cmd, out, files, &design, table.LayoutHuffman)
		},
	}
	design.register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the index to make; nothing may stand there")
	cmd.Flags().StringVar(&layout, "layout", "auto", "of the tables: auto or huffman")
	return cmd
}

func (g *globals) build(cmd *cobra.Command, out string, files []*ndf.File, flags *designFlags, layout table.Layout) error {
	n := uint64(0)
	for _, f := range files {
		n += f.Len()
	}
	design, err := flags.choose(n)
	if err != nil {
		return err
	}
	bar := g.newBar("building", int64(len(design.Tables)+1), countUnit)
	o := segment.Options{Design: design, Table: table.Options{Layout: layout}, Threads: g.threads,
		Progress: func(_ string, part, _ int) { bar.set(int64(part)) }}
	err = engine.Build(cmd.Context(), out, files, o)
	bar.end()
	if err != nil {
		return err
	}
	least, most := design.Leading()
	bits := strconv.Itoa(least)
	if most > least {
		bits = fmt.Sprintf("%d to %d", least, most)
	}
	tables := "1 table"
	if n := len(design.Tables); n > 1 {
		tables = fmt.Sprintf("%d tables", n)
	}
	g.log.Info(fmt.Sprintf("%s: %s documents, k = %d, %s with %s leading bits (%s)",
		out, humanize.Comma(int64(n)), design.K, tables, bits, design.Name))
	return nil
}
