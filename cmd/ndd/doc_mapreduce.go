// Package mapreduce holds the command mapreduce: the steps of each job, as programs that Hadoop Streaming, Spark or
// a shell run on lines.
//
//	mapreduce.go        map, combine, reduce and collect, and the flags that they share
//	mapreduce_jobs.go   the jobs: what each reads, writes and needs
//	mapreduce_help.go   a job's help, with command lines that work as they stand
package main

import "github.com/spf13/cobra"

// commandsOfmapreduce returns the room's commands.
func commandsOfmapreduce(g *globals) []*cobra.Command {
	return []*cobra.Command{newMapReduce(g)}
}
