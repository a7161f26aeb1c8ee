// Package eval measures how well fingerprints find near-duplicates: recall on labelled pairs, and
// precision over everything that is reported, for every distance k from 0 to [MaxK] and for several
// methods side by side.
//
//	documents ──────────► Corpus ──► Method (recipe, verification) ──► fingerprints ─┐
//	pairs.tsv ──► Pairs ──┘                                                          ├──► Result ──► text, JSON, SVG, HTML
//	              or Edits of sampled documents, at known rates ─────────────────────┘
//
// # Definitions
//
//	Jaccard          shingles that both texts have, over shingles that either has (package shingle:
//	                 3 words, or 5 characters of a script without spaces)
//	band             near: Jaccard of at least 0.8; revised: 0.5 to 0.8; heavy: 0.2 to 0.5; low: below
//	identical        equal once white space is removed and letters are folded
//	recall a pair    labelled pairs whose fingerprints are within k, over all of them
//	recall a group   the mean over groups of the recall of a group's pairs, so that one text that was
//	                 copied 600 times counts once; a group is what chains of labelled pairs connect,
//	                 pairs of which one only contains the other left out
//	precision        pairs of the whole corpus that are within k and have a Jaccard of at least 0.5, over
//	                 all pairs that are within k
//
// Figure 1 of Manku, Jain and Das Sarma (WWW 2007) draws equal numbers of pairs at each distance,
// and has them tagged true, false or unknown; precision at k is the share of true pairs among those
// within k, recall the share of all true pairs that are within k. [Corpus.SamplePairs] draws such pairs, and
// [Result.LabelChart] is the figure from their labels. [MethodResult.Figure] has the same curves for all pairs, by measured
// Jaccard: near pairs are true, pairs below 0.5 false, and revised ones unknown, which count for neither.
//
// # Cost
//
// All pairs of fingerprints are compared, with the linear kernel of package asm: 0.15 s for 24,000
// documents, 3 s for 100,000. Shingles of all documents are kept, about 1.4 times the text.
//
// # Concurrency
//
// A Corpus and its Pairs are not changed by [Measure], which may run for several methods at once.
package eval
