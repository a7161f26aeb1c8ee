// Package mapreduce is the work of the other packages cut into steps for more than one machine: maps and reduces that
// read lines and write lines, for Hadoop Streaming, for Spark's pipe, or for a shell with sort.
//
//	documents --Fingerprint--> fingerprints --Pairs--> pairs --Stars, rounds--> clusters --Assign--> documents of clusters --Dedup--> drops
//	                           fingerprints, Q --Scan--> hits
//	documents --Signatures--> signatures --CopiesDocs, or CopiesTerms and CopiesSum--> pairs of copies
//
// [Map], [Combine] and [Reduce] run one task of a job on one part of its input; [Collect] checks the results of all tasks
// and writes them as the commands of one machine do.
//
// # The contract
//
// A record is a key, one tab, and a value, and nothing but printable ASCII. Fields of a value are separated by a space;
// other bytes of an ID are escaped (\s \t \n \r \\ \xff, and \e for an empty one). Fingerprints are 16 hexadecimal
// digits in what a job reads and results in. Empty lines are passed over; a tab at the end may be missing.
//
// The key of a record of a shuffle begins with the number of its partition, two digits of an alphabet that sorts as its
// values do: - 0-9 A-Z _ a-z. So the shuffle of every job is the same:
//
//	partition   by the first two characters of the key, into as many parts as there are reduce tasks
//	sort        by the bytes of the whole key
//
// What a reduce needs in order is a part of the key, so that it holds a record or a group, never all values of a key. Numbers in
// keys are digits of the same alphabet and have one width. Values of equal keys may come in any order. Keys out of
// order are an error ([ErrOrder]).
//
// A task reads its input to the end, and returns no error only if everything was read and written. A record that is
// none is counted, shown and skipped; more than Options.MaxBad of them, or nothing but such, fail the task ([ErrBad]). What a
// filter of this package has written is never bad: there it is an error, and so is binary input that is cut within a fingerprint.
//
// # Whole or not at all
//
// A framework may lose what a killed filter wrote in part, or lose it whole, and go on: PySpark's pipe does unless it is told to check
// the status. So every task ends what it writes with end records, which say how many records there are and what
// the sum of their hashes is, modulo 2^64:
//
//	05~end	parts=0 records=1532 sum=91c2f0e85d7a6b34          a map's, of partition 05
//	--~end	parts=1 records=12 sum=77aa01c3e94d52f8 recipe=minwise-5be1a2c4 job=scan   of partition 0: there is one for every map
//	~end	parts=1 records=3811 sum=0c55d1fe1a7390bd          of a result
//
// A reduce adds them up and compares them with what arrived ([ErrLost]); that of partition 0 counts the maps too, where
// their number is known. A map adds up those of its input, which another job has written, and passes the difference to what
// it read on to partition 0, where all differences must come to nothing. Collect does the same with the last results. The key sorts behind
// all others of its partition. A combiner writes end records that say how many records fewer there are.
//
// End records carry the recipe of the fingerprints in short: parts, or a side file, of another recipe are an error ([ErrRecipe]). They carry
// the job and its settings too: a reduce refuses what maps of another one have sent ([ErrJob]).
//
// # What may happen to a task
//
// Output depends on the input only, and not on the order in which values of a key arrive. A task may be started twice, or killed and
// started again: it leaves no file, and writes nothing but to Options.Out. An empty part gives an end record and no error. If the output
// of a part arrives twice all the same, so do its end records, and results are what they were: repetitions are dropped.
//
// # Memory
//
// A task reserves what it takes from Options.Budget, tells it by Options.Say, and fails with a memory.TooLargeError that names
// the group where one does not fit. What it takes: a map that reads fingerprints, 144 MiB for a batch of lines, or 64 MiB of raw
// ones, which it reads while it computes; Scan, tables of Q and hits beside that; Pairs, 96 MiB to sort what it sends, and 40 bytes for
// each fingerprint of the largest group; Stars, Assign and Dedup, next to nothing.
//
// Functions of this package may be called from many goroutines at a time.
package mapreduce
