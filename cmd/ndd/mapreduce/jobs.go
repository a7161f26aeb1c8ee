package mapreduce

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/permute"
)

// mapReduceJobs are the jobs, in the order of their use.
var mapReduceJobs = []mapReduceJob{{
	name: "fingerprint", short: "documents to fingerprints",
	in: `a JSON object, with the fields --text and --id`,
	out: `fingerprint (16 hexadecimal digits, or dashes for a document that is too short),
tab, ID, bytes of text, their hash, sketch (88 digits, or - with --sketch none)`,
	notes: `A JSON object without an ID is a bad record, because a line number in a part identifies nothing. With --rows, the
part is a whole file, and file and row identify a document: IDs may then be missing or repeated. The environment variable
mapreduce_map_input_file names the file. Hadoop sets it, in a shell you must. Hadoop does not split files with
-D mapreduce.input.fileinputformat.split.minsize=1000000000000.
In other formats, a part is one file: hdfs dfs -cat FILE | ndd mapreduce map
fingerprint --input-format warc. A local file, such as one of Parquet, can be an argument: ndd mapreduce map fingerprint
--input-format parquet FILE`,
	columns:  2,
	mapFlags: "documents sketch rows",
	make: func(m *mapReduce) (any, error) {
		c, err := m.docs.Config(m.g, nil)
		return mapreduce.Fingerprint{Document: c.Document, Recipe: c.Recipe, Sketches: !m.noSketch, Rows: m.rows, Path: m.path}, err
	},
}, {
	name: "scan", short: "queries against chunks of fingerprints (section 3.3 of the paper)",
	in: `fingerprint, tab, ID, as the job fingerprint writes`,
	shuffle: `row of the query, distance, fingerprint and ID, all in the key: 19 bytes and the ID
for each hit`,
	out: `row of the query, tab, fingerprint, distance, ID, as 'ndd batch'`,
	side: `--queries: raw fingerprints (.bin) or .ndf, which every map reads. It must have
the recipe of the input`,
	notes: `'ndd help cluster' has commands that make such lines from raw fingerprints. After collect, sort -n -s -k 1,1 puts
the rows in order.`,
	mapLine: "-k 3 --queries Q.bin", file: "Q.bin",
	mapFlags: "distance queries",
	make: func(m *mapReduce) (any, error) {
		if m.k < 0 || m.k > permute.MaxK {
			return nil, cli.Usagef("-k %d: must be 0 to %d", m.k, permute.MaxK)
		}
		return mapreduce.Scan{Queries: m.queries, K: m.k, Disk: m.g.Disk}, nil
	},
}, {
	name: "pairs", short: "pairs of documents with near fingerprints, verified by their sketches",
	in: `the output of the job fingerprint or of the job dedup. A line with a fingerprint, tab and ID
has no sketch: its pairs are unverified`,
	shuffle: `table, leading bits, rank, ID and hash of the text in the key; fingerprint and sketch after the tab: 140 bytes and
the ID for each document and table, 50 without sketches; there are k + 1 tables`,
	out: `hash of the text, tab, the pairs of a document with preferred ones; collect writes a table of IDs, distance and
estimated similarity`,
	rows: mapreduce.PairRows,
	notes: `-k, --threshold, --most and --bits must be the same for map and reduce. Of documents with equal
fingerprints and sketches, all but the first have a pair with the first only. A document with more than --most pairs in a table has only
the nearest one; the counter pairs_left_out counts the rest.`,
	mapLine: "-k 8", reduceLine: "-k 8",
	mapFlags: "likeness bits", flags: "likeness bits",
	make: func(m *mapReduce) (any, error) {
		if err := m.threshold.Check(); err != nil {
			return nil, err
		}
		j := m.pairs
		j.K, j.Threshold = m.k, float64(m.threshold)
		if err := j.Check(); err != nil {
			return nil, cli.Usagef("%w", err)
		}
		return j, nil
	},
}, {
	name: "dedup", short: "a round of decisions: which documents are dropped, and for which one",
	in: `the output of the job fingerprint; in later rounds the output of the round before, and
the output of the job pairs --most 1 for it`,
	shuffle: `hash of the text, rank and ID of every document in the key; fingerprint and sketch after the tab: 130 bytes and the
ID for each document of the first round, and later for each document that has near ones`,
	out: `hash of the text, tab, state of the document; collect writes the table of dropped documents, as dropped.tsv of
'ndd dedup', which 'ndd filter --dropped' takes`,
	rows: mapreduce.DropRows,
	notes: `The first round joins equal texts. After each round of pairs and dedup, 'ndd mapreduce collect dedup'
ends with status 4 as long as documents are undecided. 'ndd help cluster' has the loop. Of documents that --keep does not
tell apart, the first in order of files and rows is kept (fingerprint --rows), or the one with the smaller ID.`,
	mapLine:  "--keep first",
	mapFlags: "keep",
	make:     func(m *mapReduce) (any, error) { return mapreduce.Dedup{Keep: m.keep}, nil },
}, {
	name: "signatures", short: "documents to signatures, for finding copies",
	in:       `a JSON object, with the fields --text and --id`,
	out:      `ID, tab, all signatures (11 digits each), or - for a document that has too few`,
	notes:    `All documents have the same method. Only 'ndd copies --method auto' chooses it by language.` + methodFileNote,
	mapFlags: "texts method",
	make: func(m *mapReduce) (any, error) {
		c, err := m.docs.Config(m.g, nil)
		if err != nil {
			return nil, err
		}
		o, err := m.copyOptions()
		return mapreduce.Signatures{Document: c.Document, Copies: o}, err
	},
}, {
	name: "copies-docs", short: "copies, by an index that is split by documents",
	in:      `the output of the job signatures; each map compares its part with --queries`,
	shuffle: `pairs of documents that are similar, all in the key: 16 bytes and both IDs each`,
	out: `ID, tab, ID, numbers of signatures, shared ones; collect writes the table of
'ndd copies', in its order`,
	side:    `--queries: the whole output of the job signatures, which every map reads`,
	mapLine: "--method winnow --queries signatures.tsv", reduceLine: "--method winnow", file: "signatures.tsv",
	collectLine: "--signatures signatures.tsv",
	notes:       `The shuffle grows with the number of pairs. The file --queries is copied to every map.` + methodFileNote + collectNote,
	mapFlags:    "method threshold queries", flags: "method threshold", collectFlags: "signatures",
	make: func(m *mapReduce) (any, error) {
		o, err := m.copyOptions()
		return mapreduce.CopiesDocs{Queries: m.queries, Copies: o, Disk: m.g.Disk}, err
	},
}, {
	name: "copies-terms", short: "copies, by an index that is split by terms: partial overlaps",
	in: `the output of the job signatures`,
	shuffle: `signature, number of the document's signatures, hash of these, and ID, all in the key: 30 bytes
and the ID for each signature of each document`,
	out:     `ID, tab, ID, numbers of signatures: a line for each signature that two documents share`,
	mapLine: "--method winnow", reduceLine: "--method winnow",
	notes: `Its output grows with the square of the documents that share a signature; the
job copies-sum adds it up. copies-docs finds the same pairs.` + methodFileNote,
	mapFlags: "method threshold", flags: "method threshold",
	make: func(m *mapReduce) (any, error) {
		o, err := m.copyOptions()
		return mapreduce.CopiesTerms{Copies: o}, err
	},
}, {
	name: "copies-sum", short: "copies, by an index that is split by terms: sums",
	in: `the output of the job copies-terms`,
	shuffle: `both IDs and numbers of signatures in the key, 14 bytes and the IDs, and after the tab 1, or 0 for a
signature outside min-df and max-df`,
	out:     `as copies-docs`,
	mapLine: "--method winnow", reduceLine: "--method winnow", collectLine: "--signatures signatures.tsv",
	notes:    `It adds up counts, so a part that is given twice makes them wrong: --parts detects that.` + methodFileNote + collectNote,
	mapFlags: "method threshold", flags: "method threshold", collectFlags: "signatures",
	make: func(m *mapReduce) (any, error) {
		o, err := m.copyOptions()
		return mapreduce.CopiesSum{Copies: o}, err
	},
}}

// methodFileNote describes the common flags of the steps that find copies.
const methodFileNote = ` All steps, signatures included, need the same --method and --method-file, and those of copies the same
--threshold. On a cluster the file and what it names are side files.`

// collectNote describes collect --signatures.
const collectNote = ` For collect --signatures, the results of the job signatures must be in order of the inputs. Of more
than 1,000 documents with equal signatures, only the first has pairs with others, as in 'ndd copies'.`

// registerJob adds the flags with these names.
func (m *mapReduce) registerJob(cmd *cobra.Command, names string) {
	f := cmd.Flags()
	// A name may stand for several flags.
	for name := range strings.FieldsSeq(names) {
		switch name {
		case "documents":
			m.docs.Register(cmd)
		case "texts":
			m.docs.RegisterReading(cmd)
		case "distance":
			f.IntVarP(&m.k, name, "k", 3, fmt.Sprintf("largest Hamming distance, 0 to %d", permute.MaxK))
		case "queries":
			f.StringVar(&m.queries, name, "",
				"file in the working folder of the task (required)")
		case "bits":
			f.IntVar(&m.pairs.Bits, name, 0, "leading bits of a group (default 12, or fewer if a table has fewer)")
		case "likeness":
			f.IntVarP(&m.k, "distance", "k", cli.DefaultK, fmt.Sprintf("largest Hamming distance, 0 to %d", permute.MaxK))
			m.threshold.Register(f)
			f.IntVar(&m.pairs.PairsMax, "most", 16, "list only the nearest pair of a document that has more in a table; 1 for the job dedup")
		case "sketch":
			cli.SketchVar(f, &m.noSketch, "auto, or none: leave out the sketches, so that pairs are unverified")
		case "rows":
			f.BoolVar(&m.rows, name, false, "identify documents by file and row: the part is a whole file")
		case "keep":
			cli.WordVar(f, &m.keep, name, "document to keep: first (by ID), longest or shortest",
				mapreduce.FirstID, mapreduce.Longest, mapreduce.Shortest)
		case "method":
			f.StringVar((*string)(&m.copies.Method), name, string(copies.Winnow), "winnow (default), shingles, spotsigs or ccdet")
			m.file.Register(cmd)
		case "threshold":
			f.Float64Var(&m.copies.Threshold, name, 0, "lowest score of a pair (default: the method's own)")
		case "signatures":
			f.StringVar(&m.signatures, name, "", "results of the job signatures, in order of the inputs")
			m.file.Register(cmd)
		}
	}
}

// copyOptions returns the options of jobs that make signatures or compare them.
func (m *mapReduce) copyOptions() (o copies.Options, err error) {
	o = m.copies
	if _, err := copies.ParseMethod(string(o.Method)); err != nil || o.Method == copies.Auto {
		return o, cli.Usagef("--method %q: must be winnow, shingles, spotsigs or ccdet", o.Method)
	}
	if m.g.Given["threshold"] && !(o.Threshold > 0 && o.Threshold <= 1) {
		return o, cli.Usagef("--threshold %g: must be above 0 and at most 1", o.Threshold)
	}
	if o, err = m.file.Signatures(o.Method, o); err != nil {
		return o, err
	}
	return o, m.file.Join(&o)
}

// copyRows returns the options by which collect writes the table of copies.
func (m *mapReduce) copyRows() (*mapreduce.CopyRows, error) {
	if m.signatures == "" {
		return nil, cli.Usagef("--signatures FILE is required: the results of the job signatures, in order of the inputs")
	}
	o, err := m.file.Signatures(copies.Auto, copies.Options{})
	if err == nil {
		err = m.file.Join(&o)
	}
	return &mapreduce.CopyRows{Signatures: m.signatures, Options: o}, err
}
