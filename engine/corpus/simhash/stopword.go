package simhash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stopWords holds, by language, the words that carry grammar and no topic: articles, pronouns, auxiliary
// verbs, prepositions, conjunctions. Single words, folded as the tokeniser folds them. A list is part of
// recipe version 1: changing one changes fingerprints.
var stopWords = map[string]string{
	"en": `a an the this that these those
		i me my mine myself we us our ours ourselves you your yours yourself yourselves
		he him his himself she her hers herself it its itself they them their theirs themselves
		who whom whose which what when where why how
		am is are was were be been being have has had having do does did doing done
		can could may might must shall should will would
		and or but nor so yet if then else because while although though as than whether
		of in on at by for with from to into onto upon over under about above below between among against
		through during before after until since within without across toward towards up down out off
		not no only also very too just both each every either neither all any some few many much more most
		other another such same own here there again once
		can't couldn't didn't doesn't don't hadn't hasn't haven't isn't aren't wasn't weren't won't wouldn't
		shouldn't i'm i've i'll i'd you're you've you'll he's she's it's we're we've we'll they're they've
		they'll that's there's what's let's`,
}

// stopSet is the list of one language as a set; nil for "".
func stopSet(language string) map[string]bool {
	if language == "" {
		return nil
	}
	set := map[string]bool{}
	for _, w := range strings.Fields(stopWords[language]) {
		set[w] = true
	}
	return set
}

// validStopWords refuses a language that has no list.
func validStopWords(language string) error {
	if _, ok := stopWords[language]; ok || language == "" {
		return nil
	}
	have := slices.Sorted(maps.Keys(stopWords))
	return fmt.Errorf("recipe: stop_words is %.64q, must be empty or one of %s", language, strings.Join(have, ", "))
}
