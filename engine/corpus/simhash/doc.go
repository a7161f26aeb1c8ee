// Package simhash turns the text of a document into a 64-bit fingerprint whose Hamming distance to
// another one says how much the two texts share. Which sketch makes the fingerprint is part of its recipe:
//
//	minwise   one bit of each of 64 bins of a one-permutation min-hash; a bit flips with probability (1 - J)/2, where J
//	          is the share of features, by weight, that two texts have in common (minwise.go has the definition)
//	simhash   Charikar's simhash over weighted features, section 2 of Manku, Jain and Das Sarma, "Detecting
//	          Near-Duplicates for Web Crawling", WWW 2007; a bit flips with probability arccos(c)/pi, where c is the
//	          cosine of the two texts' vectors of features
//
// Small changes flip several times fewer bits of the first, because 1 - J falls faster than the angle does.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that
//	             does not (Han, kana, Thai, Lao, Khmer, Myanmar)
//	feature      of minwise: a token or two neighbours; of simhash: a shingle with a weight made from how often it
//	             occurs; known by its 64-bit hash
//	run          the longest sequence of tokens of one kind, whatever white space and punctuation lies between
//	shingle      n tokens in a row within a run; a run shorter than n is one shingle
//	recipe       everything that decides which fingerprint a text gets; two fingerprints may be compared
//	             only if their recipes are equal
//
// # Data flow
//
//	                             ┌─► hash ──► bin, rank ──► least of each bin ──► bit of each        minwise.go
//	text ──► tokens ─────────────┤
//	         package token       └─► hash ──► shingle ──► count ──► votes ──► sign                   ballot.go
//	                                          shingle.go  count.go  counters.go, votes.go
//
// # Results
//
// Measured on 26,000 English and Chinese documents (manuals and books in many versions, news, licences) with labelled
// pairs; Jaccard is that of word 3-grams or character 5-grams. Recall: of pairs of one origin with Jaccard of 0.8 and
// more, the share found, averaged over groups of one origin; in parentheses without pairs of identical texts. Precision:
// of all pairs reported, the share with Jaccard of 0.5 and more. Unrelated: pairs without common origin and with
// Jaccard below 0.5 in 10^9 pairs. These are of the recipes with the published key; other keys give recalls that differ
// by 1 % or so.
//
//	                        recall at k = 3   4             6              precision at 3, 4, 6     unrelated at 3
//	English  minwise        .936 (.931)  .969 (.966)  .996 (.996)     .9998  .9994  .9957         179
//	         minwise-pairs  .923 (.917)  .962 (.959)  .995 (.994)    1.0000  .9998  .9962          36
//	         simhash        .808 (.792)  .880 (.870)  .953 (.949)     .9913  .9864  .9660         332
//	         2 prints       .978         .993         .997            .9998  .9992  .9927
//	Chinese  minwise        .986 (.985)  .992 (.991)  .998 (.998)     .9993  .9980  .9821          32
//	         minwise-pairs  .985 (.984)  .992 (.991)  .998 (.998)     .9993  .9983  .9833          32
//	         simhash        .974 (.972)  .987 (.986)  .996 (.996)     .9211  .8381  .6230       3,671
//	         2 prints       .996         .998         1.000           .9990  .9961  .9741
//
// 2 prints is minwise with two fingerprints of each text, of which texts are near when either is: twice the space and the work of
// a search. Their bits flip independently, so that of pairs that one misses with probability p both miss p^2.
//
// Found by Jaccard, mean of 8 keys, in percent of pairs of one origin that are not identical:
//
//	                        k = 3: .95-1  .9-.95  .8-.9  .7-.8  .5-.7     k = 6: .8-.9  .7-.8  .5-.7
//	English  minwise                 99.8   93.4   69.5   40.0   12.4             94.1   80.5   47.4
//	         minwise-pairs           99.7   91.0   58.4   23.5    2.6             92.3   69.1   25.7
//	         simhash                 95.1   65.5   38.5   22.1   12.7             81.0   62.4   49.9
//	Chinese  minwise                100.0   94.4   73.5   43.1    6.4             96.9   81.5   31.9
//	         minwise-pairs          100.0   92.8   70.2   34.4    5.1             96.4   78.9   28.7
//	         simhash                 99.6   83.9   64.9   47.6   20.7             93.6   89.7   57.2
//
// # Cost
//
// One core, BenchmarkFingerprint, text of 1 and 16 KiB. minwise: English 290 and 380 MB/s, Chinese 120 and 150 MB/s:
// about 16 ns a word, of which 12 are spent to find, fold and hash it, and 20 ns a character with its pair. simhash:
// English 110 and 150 MB/s, Chinese 80 and 69 MB/s; it counts every feature.
//
// # Concurrency
//
// A [Fingerprinter] owns its memory and belongs to one goroutine; make one for each. Everything else is
// free of state.
package simhash
