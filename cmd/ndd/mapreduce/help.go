package mapreduce

import (
	"fmt"
	"strings"

	"example.org/ndd/cmd/ndd/cli"
)

// help returns the long help of a job: its input, output and shuffle, and the command lines that run it. A reader only
// has to replace the names of folders in the command lines.
func (j *mapReduceJob) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(j.short[:1])+j.short[1:])
	paragraph := func(title string, lines ...string) {
		for _, line := range lines {
			for part := range strings.Lines(cli.Wrap(line, helpWidth-len(margin))) {
				fmt.Fprintf(&b, "%-*s%s", len(margin), title, part)
				title = ""
			}
		}
	}
	paragraph("Input", "a line each: "+j.in)
	if j.shuffle == "" {
		paragraph("Key", "none: the job has no reduce, and no shuffle")
	} else {
		paragraph("Key", "its first two characters are the number of the partition",
			"partitioner: by the first two characters of the key",
			"sort: by the bytes of the whole key (LC_ALL=C)",
			"carries: "+j.shuffle)
	}
	if j.side == "" {
		paragraph("Side file", "none")
	} else {
		paragraph("Side file", j.side)
	}
	paragraph("Output", "a line each: "+j.out)
	if j.notes != "" {
		b.WriteString("\n" + cli.Wrap(j.notes, helpWidth))
	}
	fmt.Fprintf(&b, "\nShell:\n\n%s\nHadoop Streaming:\n\n%s\nSpark (Python):\n\n%s", j.shell(), j.hadoop(), j.spark())
	return b.String()
}

const (
	helpWidth = 88
	margin    = "           " // width of the column with the titles of paragraphs
)

func (j *mapReduceJob) step(step, flags string) string {
	return strings.TrimRight("ndd mapreduce "+step+" "+j.name+" "+flags, " ")
}

func (j *mapReduceJob) shell() string {
	maps := "  for part in parts/*; do " + j.step("map", j.mapLine) + " <$part || break; done"
	if j.shuffle == "" {
		return fmt.Sprintf("%s >out\n  %s --parts $(ls parts | wc -l) out\n", maps, j.step("collect", j.collectLine))
	}
	return fmt.Sprintf("%s |\n    LC_ALL=C sort | %s --parts $(ls parts | wc -l) >out\n  %s out\n", maps,
		j.step("reduce", j.reduceLine), j.step("collect", j.collectLine))
}

func (j *mapReduceJob) hadoop() string {
	files := "ndd"
	if j.file != "" {
		files += ",hdfs:///side/" + j.file
	}
	results := func(parts string) string {
		return fmt.Sprintf("  hdfs dfs -cat '/out/part-*' | %s%s\n", j.step("collect", j.collectLine), parts)
	}
	if j.shuffle == "" {
		return fmt.Sprintf("  hadoop jar hadoop-streaming.jar -D mapreduce.job.reduces=0 -files %s \\\n    -input /in "+
			"-output /out -mapper './%s'\n",
			files, j.step("map", j.mapLine)) + results("")
	}
	return fmt.Sprintf(`  hadoop jar hadoop-streaming.jar -D mapreduce.job.reduces=8 \
    -D mapreduce.partition.keypartitioner.options=-k1.1,1.2 \
    -D mapreduce.map.output.compress=true -files %s \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -input /in -output /out -mapper './%s' \
    -reducer './%s'
`, files, j.step("map", j.mapLine), j.step("reduce", j.reduceLine)) + results(" --parts 8")
}

func (j *mapReduceJob) spark() string {
	files := "ndd"
	if j.file != "" {
		files += "," + j.file
	}
	submit := fmt.Sprintf("  # spark-submit --files %s job.py\n", files)
	if j.shuffle == "" {
		return submit + fmt.Sprintf("  sc.textFile(\"/in\").pipe(\"./%s\", checkCode=True) \\\n    "+
			".saveAsTextFile(\"/out\")\n", j.step("map", j.mapLine))
	}
	return submit + fmt.Sprintf(`  maps = sc.textFile("/in").pipe("./%s", checkCode=True)
  records = maps.map(lambda l: l.partition("\t")[::2])
  place = lambda k: 64 * ord(k[0]) + ord(k[1])
  shuffled = records.repartitionAndSortWithinPartitions(8, place).map("\t".join)
  parts = " --parts %%d" %% maps.getNumPartitions()
  shuffled.pipe("./%s" + parts, checkCode=True) \
    .saveAsTextFile("/out")
`, j.step("map", j.mapLine), j.step("reduce", j.reduceLine))
}
