// Package mapreduce holds the command mapreduce: the steps of each job, as programs that Hadoop
// Streaming, Spark or a shell run on lines.
//
//	mapreduce.go   map, combine, reduce and collect, and the flags that they share
//	jobs.go        the jobs: what each reads, writes and needs
//	help.go        a job's help, with command lines that work as they stand
package mapreduce

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newMapReduce(g)}
}
