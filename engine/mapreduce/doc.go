// Package mapreduce cuts the work of other packages into maps and reduces for several machines.
// Tasks read lines and write lines, for Hadoop Streaming, Spark's pipe, or a shell with sort.
//
//	documents --Fingerprint--> fingerprints, sketches --Dedup--> undecided documents
//	undecided documents --Pairs--> pairs --Dedup, with the documents--> fewer undecided documents, and so on: drops
//	fingerprints, Q --Scan--> hits
//	documents --Units--> places of repeated lines, paragraphs, sentences
//	documents --Signatures--> signatures --CopiesDocs, or CopiesTerms and CopiesSum--> pairs of copies
//
// [Map] and [Reduce] run one task of a job on one part of its input; [Collect] checks
// the results of all tasks and writes them as the commands of one machine do.
//
// # Records
//
// A record is a key, one tab, and a value, all printable ASCII. Fields of a value are separated by
// a space; other bytes of an ID are escaped (\s \t \n \r \\ \xff, and \e for an empty one).
// Fingerprints are 16 hexadecimal digits in inputs and results. Empty lines are ignored; a tab at
// the end may be missing.
//
// The key of a record of a shuffle begins with the number of its partition, two digits of an
// alphabet that sorts by value: - 0-9 A-Z _ a-z. So the shuffle of every job is the same:
//
//	partition   by the first two characters of the key, into as many parts as there are reduce tasks
//	sort        by the bytes of the whole key
//
// A reduce holds one record or one group, never all values of a key: the order it needs is part of
// the key. Numbers in keys are digits of the same alphabet and have one width. Values of equal keys
// may come in any order. Keys that are not sorted are an error ([ErrOrder]).
//
// A task returns no error only if it read all input and wrote all output. A malformed record is
// counted, shown and skipped; more than Options.MaxBad of them, or no other, fail the task
// ([ErrBad]). In input that a task of this package wrote they are an error at once, and so is a raw
// fingerprint that is cut.
//
// # End records
//
// A framework may lose the output of a killed filter and go on; PySpark's pipe does unless it is
// told to check the status. So every task ends its output with end records, which hold the number
// of records and the sum of their hashes modulo 2^64:
//
//	05~end	parts=0 records=1532 sum=91c2f0e85d7a6b34          a map's, of partition 05
//	--~end	parts=1 records=12 sum=77aa01c3e94d52f8 recipe=minwise-5be1a2c4 job=scan   of partition 0: one for every map
//	~end	parts=1 records=3811 sum=0c55d1fe1a7390bd          of a result
//
// A reduce adds them up and compares them with the records that arrived ([ErrLost]); the reduce of
// partition 0 counts the maps too, if their number is known. A map adds up the end records of its
// input and sends the difference to the records it read to partition 0, where all differences must
// cancel. Collect checks the last results in the same way. The key sorts after all others of its
// partition.
//
// End records also name the recipe of the fingerprints: parts, or a side file, of another recipe
// are an error ([ErrRecipe]). They name the job and its settings: a reduce refuses the output of
// maps of another one ([ErrJob]). The job dedup has rounds, and its end records name the round.
//
// # Repeated tasks
//
// Output depends on the input only, not on the order of a key's values. A task may be started
// twice, or killed and started again: it leaves no file and writes to Options.Out only. An empty
// part gives an end record and no error. If the output of a part arrives twice, so do its end
// records, and the results are the same: repetitions are dropped.
//
// # Memory
//
// A task reserves its memory from Options.Budget, reports it to Options.Say, and fails with a
// memory.TooLargeError that names the group that does not fit. A map of fingerprints takes 144 MiB
// for a batch of lines, or 64 MiB of raw ones, which it reads while it computes; Scan takes tables
// of Q and hits in addition; Pairs about 600 bytes for each kept or undecided document of the largest group;
// Dedup next to nothing.
//
// Functions of this package may be called concurrently.
package mapreduce
