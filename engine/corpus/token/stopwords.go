package token

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stopWords holds, by language, the words that have a grammatical function but no topic: articles, pronouns,
// auxiliary verbs, prepositions, conjunctions. The lists were written for ndd and have its licence. A list is part of
// every recipe that uses it: a change of a list changes its fingerprints.
var stopWords = map[string]string{
	"ar": `في من إلى على عن مع هذا هذه ذلك تلك هؤلاء الذي التي الذين اللذان اللتان هو هي هم هن أنا نحن أنت أنتم ما لا لم لن ليس
	ليست كان كانت كانوا يكون تكون قد لقد أن إن أنه أنها إنه إنها أو أم ثم بل لكن حتى إذا إذ لو كما كل بعض غير بين بعد قبل
	عند عندما منذ خلال حول دون ضد فوق تحت أمام وراء هناك هنا أي أين كيف متى لماذا ماذا فيه فيها منه منها له لها لهم به بها
	بهم عليه عليها إليه إليها عنه عنها وهو وهي وقد وكان وكانت ولم ولا وأن وفي ومن وعلى كذلك أيضا فقط جدا سوف و`,
	"de": `der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines
	ich mich mir du dich dir er ihn ihm sie ihr ihnen es wir uns ihr euch man sich selbst
	mein meine meinen meinem meiner dein deine sein seine seinen seinem seiner seines ihre ihren ihrem ihrer ihres unser unsere euer eure
	dieser diese dieses diesen diesem jener jene jenes jenen jenem welcher welche welches welchen welchem
	wer wen wem was wo wann wie warum wohin woher bin bist ist sind seid war waren warst gewesen sein wird werden wurde wurden worden werde
	habe hast hat haben hatte hatten gehabt kann können konnte konnten muss müssen musste soll sollen sollte will wollen wollte darf dürfen mag möchte
	und oder aber sondern denn weil dass ob wenn als während obwohl damit sowie auch nur noch schon sehr so dann da hier dort nicht nichts
	in im an am auf aus bei beim mit nach von vom zu zum zur für gegen ohne um durch über unter vor hinter neben zwischen seit bis
	alle alles allen aller viel viele mehr jeder jede jedes etwas einige andere anderen`,
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
	"es": `el la los las lo un una unos unas al del de a en con por para sin sobre entre hasta desde hacia según durante contra ante bajo tras
	yo me mí tú te ti él ella ello ellos ellas nos nosotros nosotras vosotros os se sí le les usted ustedes
	mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra suyo suya
	este esta estos estas esto ese esa esos esas eso aquel aquella aquellos aquellas que quien quienes cual cuales cuyo cuya cuando donde como cuanto
	qué quién cuál cuándo dónde cómo soy eres es somos son era eras eran fue fueron ser sido siendo sea sean será serán estoy está están estaba estaban estar estado
	he has ha hemos han había habían haber hay hubo puede pueden poder podía y e o u pero sino si no ni porque pues aunque mientras
	muy más menos también tampoco ya aún solo sólo así todo toda todos todas otro otra otros otras mismo misma cada algo alguno alguna algunos algunas nada`,
	"fr": `le la les un une des du de au aux à en dans sur sous par pour avec sans chez vers entre depuis pendant contre avant après
	je me moi tu te toi il elle on nous vous ils elles se soi lui leur leurs eux y
	mon ma mes ton ta tes son sa ses notre nos votre vos ce c' cet cette ces cela ça celui celle ceux celles
	qui que quoi dont où quand comment pourquoi quel quelle quels quelles lequel laquelle lesquels lesquelles
	suis es est sommes êtes sont étais était étaient été être sera seront serait soit ai as a avons avez ont avais avait avaient eu avoir aura auront
	peut peuvent pouvait fait faire et ou mais donc or ni car si comme lorsque puisque quoique parce
	ne pas plus moins très aussi encore déjà ainsi alors même mêmes tout toute tous toutes autre autres aucun aucune chaque quelque quelques
	c'est n'est qu'il qu'elle qu'on d'un d'une s'est j'ai l'on`,
	"ja": `は が を に へ と で も の から まで より や か ね よ です ます でした ました ません である だった という といった による により において
	について として ための これ それ あれ この その あの ここ そこ どこ こと もの ため また しかし そして など している されている`,
	"ru": `и в во не на но а я он она оно они мы ты вы что кто как так же бы ли ни да нет или если то это этот эта эти этого этой этих этом этому
	тот та те того той тех том тому который которая которое которые которого которой которых котором которым
	с со к ко у о об обо от из за по до для без при под над через между про перед после среди около кроме вместо
	его её ее ему ей им их ними него неё нее нему ней нем нём них меня мне мной тебя тебе нас нам нами вас вам вами себя себе собой
	мой моя моё мои твой твоя наш наша наше наши ваш ваша ваше ваши свой своя свои своего своей своих
	был была было были быть будет будут есть чтобы потому поэтому когда где куда откуда почему зачем чем тем хотя пока
	уже ещё еще только также тоже очень более менее все всё всех всего весь вся сам сама сами самый можно может могут мог`,
	"zh": `的 了 和 是 在 也 就 都 而 与 及 着 或 被 把 让 从 向 对 于 以 为 其 之 这 那 此 个 吗 呢 吧 啊 我 你 他 她 它 不 没 很 又 还 再
	我们 你们 他们 她们 它们 这个 那个 这些 那些 这样 那样 什么 怎么 哪里 因为 所以 但是 可是 如果 虽然 而且 或者 以及 对于 关于 由于 为了
	没有 不是 就是 还是 只是 已经 一个 一些 可以 自己 之后 之前 之间 時 們 這 與 個 對 為 於 從 還 我們 他們 這個 這些 沒有 因為`,
}

// StopWords returns the stop words of a language that has a list.
func StopWords(language string) []string { return strings.Fields(stopWords[language]) }

// CheckStopWords returns an error that lists the languages with a list of stop words, unless language is one of them
// or empty.
func CheckStopWords(language string) error {
	if _, ok := stopWords[language]; ok || language == "" {
		return nil
	}
	return fmt.Errorf("stop_words is %.64q, must be empty or one of %s", language, languagesOf(stopWords))
}

func languagesOf[V any](lists map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(lists)), ", ")
}
