// Package eval measures how well fingerprints find near-duplicates: recall on labelled pairs, and precision of all
// reported pairs, for every distance k from 0 to [MaxK]. It compares several methods. [Corpus.MeasureThresholds]
// measures methods that give pairs a score, over thresholds of the score.
//
//	documents ──────────► Corpus ──► Method (recipe, verification) ──► fingerprints ─┐
//	pairs.tsv ──► Pairs ──┘                                                          ├──► Result ──► text, JSON, SVG, HTML
//	              or edited copies of sampled documents, at known rates ─────────────┘
//
// # Definitions
//
//	Jaccard          shingles of both texts, divided by shingles of either text (package shingle:
//	                 3 words, or 5 characters of a script without spaces)
//	band             near: Jaccard of at least 0.8; revised: 0.5 to 0.8; heavy: 0.2 to 0.5; low: below
//	group            labelled pairs that are connected; a pair with a document that contains the other one
//	                 connects nothing
//	recall a pair    share of the labelled pairs whose fingerprints are within k
//	recall a group   mean over groups of the recall of their pairs: a text that was
//	                 copied 600 times counts once
//	precision        share of right pairs, with a Jaccard of at least 0.5, among all pairs of the corpus within k
//
// Figure 1 of Manku, Jain and Das Sarma (WWW 2007) draws equal numbers of pairs at each distance. People tag them as
// true, false or unknown. Precision at k is the share of true pairs among those within k, and recall is the share of
// all true pairs within k. [Corpus.SamplePairs] draws such pairs, and [Result.LabelChart] is the figure from their
// labels. [MethodResult.Figure] has the same curves for all pairs, by measured Jaccard: near pairs are true, pairs
// below 0.5 are false, and revised pairs are unknown.
//
// # Cost
//
// All pairs of fingerprints are compared, with the linear kernel of package asm: 0.15 s for 24,000
// documents, 3 s for 100,000. The shingles of all documents take about 1.4 times the memory of the texts.
//
// # Concurrency
//
// [Measure] does not change a Corpus and its Pairs. It may run for several methods at once.
package eval
