// Package mapreduce cuts the work of other packages into maps and reduces for several machines.
// Tasks read lines and write lines, for Hadoop Streaming, Spark's pipe, or a shell with sort.
//
//	documents --Fingerprint--> fingerprints, sketches --Dedup--> undecided documents
//	undecided documents --Pairs--> pairs --Dedup, with the documents--> fewer undecided documents, and so on: drops
//	fingerprints, Q --Scan--> hits
//	documents --Signatures--> signatures --CopiesDocs, or CopiesTerms and CopiesSum--> pairs of copies
//
// [Map] and [Reduce] run one task of a job on one part of its input; [Collect] checks
// the results of all tasks and writes them as the commands that run on one machine do.
//
// # Records
//
// A record is a key, one tab, and a value, all printable ASCII. Fields of a value are separated by
// a space; other bytes of an ID are escaped (\x20 \xff, and \e for an empty one).
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
// A task returns no error only if it read all input and wrote all output. It counts, reports and skips malformed
// records. It fails if there are more than Options.MaxBad of them, or if all records are malformed ([ErrBad]). In input
// that a task of this package wrote, the first malformed record is an error.
//
// # End records
//
// A framework may lose the output of a killed filter and continue. PySpark's pipe does so unless it is told to check
// the exit status. So every task ends its output with end records. They hold the number of records and the sum of the
// records' hashes modulo 2^64:
//
//	05~end	{"parts":0,"records":1532,"sum":10501459421653467}           from a map, for partition 05
//	--~end	{"parts":1,"records":12,"sum":85653467,"recipe":"minwise-5be1a2c4","job":"scan"}   for partition 0, from every map
//	~end	{"parts":1,"records":3811,"sum":88864759421653467}           in results
//
// A reduce adds up the end records and compares the sums with the records that arrived ([ErrLost]). If the number of
// maps is known, the reduce of partition 0 checks it, too. A map adds up the end records of its input and subtracts the
// records that it read. It sends the difference to partition 0, where the sum of all differences must be zero. Collect
// checks the last results in the same way. The key of an end record sorts after all other keys of its partition.
//
// End records also name the recipe of the fingerprints. A part or a side file with another recipe is an error
// ([ErrRecipe]). They name the job and its settings. A reduce refuses the output of maps with another job or other
// settings ([ErrJob]). The job dedup has rounds, and its end records name the round.
//
// # Repeated tasks
//
// Output depends on the input only, not on the order of a key's values. A task may be started twice, or killed and
// started again, because it leaves no files and writes to Options.Out only. An empty part gives an end record and no
// error. If the output of a part arrives twice, its end records arrive twice, too. Repeated records are dropped, so the
// results are the same.
//
// # Memory
//
// A task reserves its memory from Options.Budget, and fails with a memory.TooLargeError that names the group that does
// not fit:
//
//   - Scan takes 144 MiB for a batch of fingerprints, the tables of Q and the hits.
//   - Pairs takes about 600 bytes for each kept or undecided document of the largest group.
//   - CopiesDocs takes 64 bytes for each document of the side file, and 60 for each pair. Signatures and IDs that do not
//     fit are in temporary files.
//   - Dedup takes almost no memory.
//
// Functions of this package may be called concurrently.
package mapreduce
