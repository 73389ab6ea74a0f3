"""What single words mean: PropBank frames, which of their roles a phrase fills, and classes of words.

Frame numbers and roles are PropBank's (Palmer, Gildea and Kingsbury 2005); what is not listed takes the default of
its class: `lemma-01` for a verb, its subject ARG0, its object ARG1.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def _list(text: str) -> list[str]:
    return text.split()


def _table(text: str) -> dict[str, str]:
    """`word value` pairs, separated by commas."""
    return dict(pair.split() for pair in text.split(","))


# --- verbs ------------------------------------------------------------------------------------------------------

FRAMES = _table(
    "have have-03, go go-02, do do-02, like like-02, save save-02, run run-02, leave leave-11, lose lose-02,"
    "jump jump-03, cry cry-02, light light-04, choose choose-01, meet meet-03, catch catch-01, call call-01,"
    "spend spend-02, paint paint-02, bear bear-02, base base-02, follow follow-02, lie lie-07, miss miss-01,"
    "express express-01, contain contain-01, locate locate-01, attend attend-02, prepare prepare-02, rule rule-03,"
    "hold hold-01, fit fit-06, hang hang-01, reflect reflect-02, recognize recognize-02, wonder wonder-02,"
    "grow grow-01, permit permit-01, set set-01, ride ride-01, stir stir-02, wave wave-02, fire fire-02,"
    "text text-01, play play-01, star star-01, figure figure-01, hurt hurt-01, strike strike-01, check check-01,"
    "shoot shoot-02, throw throw-01, lead lead-02, send send-01, order order-01, found found-01, post post-01,"
    "dress dress-01, oblige oblige-02, distinguish distinguish-01, direct direct-01, record record-01, "
    "serve serve-01,"
    "pass pass-03, note note-02, dry dry-02, mistake mistake-02, exclaim exclaim-01, utter utter-01, gonna go-02,"
    "ought recommend-01, awaken wake-01, phone phone-01, chat chat-01, wanna want-01, hate hate-01, love love-01"
)
"""Frames of verbs whose usual sense is not 01, or that must not be changed."""

PARTICLE_FRAMES = _table(
    "sit+down sit-down-02, stand+up stand-up-07, put+out put-out-09, go+on go-on-25, clean+out clean-out-03,"
    "take+away take-away-05, find+out find-out-03, set+out set-out-07, take+up take-up-31, come+out come-out-09,"
    "come+back come-01, go+back go-02, give+up give-up-07, get+up get-up-26, wake+up wake-up-02, grow+up "
    "grow-up-04,"
    "break+up break-up-08, cry+out cry-out-03, point+out point-out-02, pick+up pick-up-04, call+up call-up-02,"
    "go+out go-out-17, hang+out hang-out-05, turn+out turn-out-02, turn+off turn-off-06, turn+on turn-on-13,"
    "work+out work-out-02, show+up show-up-02, put+on put-on-08, take+off take-off-07, look+up look-up-05,"
    "call+on call-on-05, call+off call-off-05, figure+out figure-out-05, make+up make-up-07, run+away run-02,"
    "throw+up throw-up-07, throw+away throw-away-04, shut+up shut-up-05, end+up end-up-03, carry+out carry-out-03,"
    "set+up set-up-03, come+up come-up-11, sleep+in sleep-02, bring+up bring-up-07, eat+up eat-up-02,"
    "start+out start-out-05, pull+up pull-up-07, point+to point-01, pass+away pass-away-16, move+in move-01,"
    "give+back give-back-02, pay+back pay-back-02, get+back get-back-01, let+down let-down-04, hurry+up "
    "hurry-up-02,"
    "mix+up mix-up-02, pass+on pass-on-09, break+down break-down-12, calm+down calm-down-03, cheer+up cheer-up-02,"
    "fall+asleep sleep-01, drop+off drop-off-05, check+in check-in-02, check+out check-out-05, help+out "
    "help-out-02,"
    "hand+in hand-in-03, try+on try-on-02, blow+up blow-up-06, burn+down burn-down-01, use+up use-up-03"
)
"""Verb and particle to a frame; a pair that is not listed becomes `verb-particle-00`."""

ARG1_SUBJECT = words(
    "die arrive appear disappear happen occur exist fall come grow seem remain stand turn end "
    "return become wait lie blow shine rise hurry last matter mean cost resemble differ fly vanish "
    "emerge melt wither drown collapse crash increase decrease rest set sit-down wake burn explode freeze sink "
    "spread stay get-up wake-up grow-up result recover bear bloom flower fade pass "
    "suffice sit sit-down awake age land rain weigh hang lie consist tire"
)
"""Verbs whose only participant is what undergoes (PropBank ARG1), though it is the subject."""

OBJECT_ROLES = _table(
    "mean ARG2, become ARG2, resemble ARG2, cost ARG2, last ARG2, age ARG2, weigh ARG2, remain ARG3,"
    "seem ARG2, total ARG2, hang ARG1"
)
"""Roles of direct objects that are not ARG1."""

HEARER_ROLES = _table(
    "tell ARG2, ask ARG2, teach ARG2, answer ARG1, inform ARG1, remind ARG1, promise ARG2, order ARG1, "
    "command ARG1,"
    "persuade ARG1, convince ARG1, warn ARG1, show ARG2, advise ARG1, beg ARG1, reassure ARG1, thank ARG1, "
    "text ARG2,"
    "pay ARG2, help ARG2, reply ARG1"
)
"""The role of a person spoken to as the direct object of such a verb."""

CLAUSE_ROLES = _table(
    "answer ARG2, reply ARG2, respond ARG2, order ARG2, command ARG2, remind ARG2, inform ARG2, persuade ARG2,"
    "convince ARG2, warn ARG2, hurry ARG2, dare ARG2, oblige ARG2, force ARG2, teach ARG1, laugh ARG2, call ARG2,"
    "consider ARG2, name ARG2, invite ARG2, help ARG1, mean ARG2, allow ARG1, wait ARG2, tend ARG2, sigh ARG1"
)
"""The role of a complement clause that is not ARG1."""

PREPOSITION_ROLES = _table(
    "look+at ARG1, look+for ARG1, look+after ARG1, listen+to ARG1, talk+to ARG2, talk+with ARG2, talk+about ARG1,"
    "speak+to ARG2, speak+with ARG2, speak+of ARG1, speak+about ARG1, say+to ARG2, say+about ARG3, think+of ARG1,"
    "think+about ARG1, go+to ARG4, go+from ARG3, come+to ARG4, come+from ARG3, come+back ARG4, arrive+at ARG4,"
    "arrive+in ARG4, arrive+on ARG4, return+to ARG4, return+from ARG3, wait+for ARG2, ask+for ARG1, belong+to ARG1,"
    "laugh+at ARG1, dream+of ARG1, dream+about ARG1, depend+on ARG1, agree+with ARG2, agree+to ARG1, agree+on ARG1,"
    "deal+with ARG1, care+about ARG1, care+for ARG1, worry+about ARG0, complain+about ARG1, know+about ARG1,"
    "hear+about ARG1, hear+of ARG1, learn+about ARG1, learn+from ARG2, write+to ARG2, write+about ARG1, "
    "send+to ARG2,"
    "give+to ARG2, show+to ARG2, bring+to ARG2, put+on ARG2, put+in ARG2, put+into ARG2, explain+to ARG2, "
    "reply+to ARG1,"
    "respond+to ARG1, pay+for ARG3, buy+from ARG2, buy+for ARG4, sell+to ARG2, thank+for ARG2, help+with ARG1,"
    "turn+into ARG2, change+into ARG2, change+to ARG2, fill+with ARG2, cover+with ARG2, work+for ARG2, "
    "work+on ARG1,"
    "move+to ARG2, move+from ARG3, meet+with ARG1, marry+to ARG2, stare+at ARG1, gaze+at ARG1, glance+at ARG1,"
    "smile+at ARG2, point+at ARG2, point+to ARG2, consist+of ARG2, compare+to ARG2, compare+with ARG2, "
    "believe+in ARG1,"
    "succeed+in ARG1, live+in location, live+on location, fall+on ARG4, fall+in location, fall+from ARG3, "
    "fall+to ARG4,"
    "travel+to ARG4, fly+to destination, run+to destination, walk+to destination, apologize+for ARG1,"
    "apologize+to ARG2, argue+about ARG1, argue+with ARG2, fight+with ARG1, fight+against ARG1, fight+for ARG2,"
    "join+in ARG2, invite+to ARG2, add+to ARG2, attach+to ARG2, tie+to ARG2, connect+to ARG2, lead+to ARG4,"
    "refer+to ARG1, search+for ARG2, prepare+for ARG2, hope+for ARG1, wish+for ARG1, vote+for ARG1, apply+for ARG1,"
    "apply+to ARG2, take+to ARG3, take+from ARG2, make+of ARG2, make+from ARG2, draw+for ARG2, read+about ARG1,"
    "accuse+of ARG2, remind+of ARG2, rely+on ARG1, insist+on ARG1, concentrate+on ARG1, focus+on ARG2, "
    "base+on ARG2,"
    "name+after ARG2, suffer+from ARG1, recover+from ARG1, differ+from ARG2, separate+from ARG2, hide+from ARG2,"
    "protect+from ARG2, shelter+from ARG2, contribute+to ARG2, react+to ARG1, participate+in ARG1, play+with ARG1,"
    "rain+on ARG1, knock+on ARG1, attend+to ARG1, appeal+to ARG1, happen+to ARG1, do+with ARG2, do+to ARG2,"
    "disagree+with ARG1, introduce+to ARG2, describe+as ARG2, use+as ARG2, use+for ARG2, act+as ARG1, "
    "serve+as ARG1,"
    "run+into ARG1, bump+into ARG1, end+in location, win+against ARG2, beat+at ARG2, pick+from ARG2, ask+of ARG2,"
    "go+with accompanier, exchange+for ARG3, demand+of ARG2, tell+about ARG1, tell+to ARG2, send+from ARG3,"
    "divide+into ARG2, translate+into ARG2, translate+to ARG2, break+into ARG1, escape+from ARG1, die+of ARG1-of,"
    "mean+by ARG3, love+with ARG1, call+for ARG1, call+on ARG1, mention+to ARG2, reveal+to ARG2, sit+on location"
)
"""Verb and preposition to the role of what the preposition governs."""

MOTION = words(
    "go come run walk fly drive travel move return climb jump fall leave swim sail march rush hurry head "
    "wander step "
    "enter get crawl ride race flee escape drift float carry bring take send throw push pull toss lead follow drop"
)

SPEECH = words(
    "say ask answer reply add repeat exclaim cry demand inquire whisper shout remark murmur respond object "
    "tell sigh "
    "continue explain begin think announce declare observe order state note mention yell admit insist "
    "scream beg call"
)

BECOMING = words("become get grow turn go")
APPEARING = words("look sound taste smell feel seem appear")

MODALS = {
    "can": ("possible-01", "ARG1"),
    "ca": ("possible-01", "ARG1"),
    "could": ("possible-01", "ARG1"),
    "may": ("possible-01", "ARG1"),
    "might": ("possible-01", "ARG1"),
    "must": ("obligate-01", "ARG2"),
    "should": ("recommend-01", "ARG1"),
    "ought": ("recommend-01", "ARG1"),
    "shall": None,
    "will": None,
    "would": None,
    "wo": None,
    "'ll": None,
    "'d": None,
    "need": ("need-01", "ARG1"),
}
"""Modal verbs to a frame and the role of the verb under it; None for those that only mark time or mood."""

# --- adjectives -------------------------------------------------------------------------------------------------

ADJECTIVE_FRAMES = _table(
    "good good-02, bad bad-07, beautiful beautiful-02, important important-01, happy happy-01, sad sad-02,"
    "long long-03, deep deep-02, high high-02, short short-07, hard hard-02, easy easy-05, difficult difficult,"
    "true true-01, real real-04, new new-01, fresh fresh-04, red red-02, white white-03, black black-04,"
    "blue blue-01, green green-02, yellow yellow-02, brown brown-02, simple simple-02, single single-02,"
    "complete complete-02, different differ-02, same same-01, similar resemble-01, useful useful-05,"
    "interesting interest-01, interested interest-01, surprised surprise-01, surprising surprise-01, sure sure-02,"
    "certain certain, busy busy-01, ready ready-02, free free-04, close close-10, clear clear-06, serious "
    "serious-01,"
    "kind kind-01, nice nice-01, sorry sorry-01, glad glad-02, afraid fear-01, angry angry-01, proud pride-01,"
    "ashamed shame-01, hungry hunger-01, thirsty thirst-01, tired tire-01, bored bore-02, boring bore-02,"
    "excited excite-01, exciting excite-01, worried worry-01, scared scare-01, frightened frighten-01, curious"
    " curious-01, patient patient-01, responsible responsible-03, perfect perfect-02, unique unique-01,"
    "possible possible-01, impossible possible-01, necessary need-01, able possible-01, capable capable-01,"
    "unable possible-01, charming charm-01, brilliant brilliant-02, awake wake-02, wrong wrong-04, right "
    "right-06, correct correct-02, fair fair-04, equal equal-01,"
    "terrible terrible-01, weak weak-02, strong strong-02, slow slow-05, fast fast-02, quick quick-02, "
    "quiet quiet-04,"
    "sweet sweet-03, straight straight-04, rare rare-02, dead die-01, alive live-01, lonely lonely, sick sick-05,"
    "ill ill-01, healthy healthy-02, mad mad-04, crazy crazy-03, great great, reasonable reasonable-02,"
    "fortunate fortunate-01, consequential consequential-01, dangerous endanger-01, absent absent-01, "
    "present present-02,"
    "visible visible-01, invisible visible-01, general general-02, special special-02, likely likely-01,"
    "unlikely likely-01, available available-02, aware aware-01, famous famous-01, popular popular-02,"
    "expensive expensive-02, cheap cheap-02, safe safe-01, careful careful-01, clever clever-01, smart smart-06,"
    "late late-02, early early-02, wet wet-02, dry dry-08, warm warm-07, hot hot-05, cold cold-01, cool cool-04,"
    "sharp sharp-02, soft soft-02, heavy heavy-02, clean clean-04, dirty dirty-02, thin thin-03, thick thick-02,"
    "wide wide-02, favourite favor-01, favorite favor-01, annoyed annoy-01, annoying annoy-01, confused confuse-01,"
    "jealous jealous-02, guilty guilty-01, polite polite-01, rude rude-01, honest honest-01, brave brave-01,"
    "confident confident-01, convenient convenient-01, satisfied satisfy-01, married marry-01, amazing amaze-01,"
    "related relate-01, welcome welcome-01, alike alike-05, intimate intimate-02, open open-09, accurate accurate,"
    "lovely lovely, awesome awesome, wonderful wonderful-03, horrible horrible-02, awful awful-02, "
    "delicious delicious-02"
)
"""Adjectives that are frames; others stay words and modify by `:mod`."""

ADJECTIVE_ROLES = {
    **dict.fromkeys(words("afraid proud responsible interesting surprising exciting boring annoying kind"), "ARG0"),
    **dict.fromkeys(words("capable hungry thirsty unable ashamed amazing jealous dangerous alive careful"), "ARG0"),
    **dict.fromkeys(words("serious fortunate aware"), "ARG2"),
    "kind": "ARG1",
    "dangerous": "ARG0",
    "aware": "ARG0",
    "dead": "ARG1",
}
"""The role that the noun plays to such an adjective's frame, if not ARG1."""

ADJECTIVE_PREPOSITIONS = _table(
    "proud+of ARG1, afraid+of ARG1, good+at ARG2, good+for ARG3, interested+in ARG2, responsible+for ARG1,"
    "different+from ARG2, similar+to ARG2, sorry+for ARG2, sorry+about ARG2, sure+of ARG2, sure+about ARG2,"
    "close+to ARG2, tired+of ARG0, worried+about ARG0, angry+at ARG2, angry+with ARG2, angry+about ARG1, "
    "full+of ARG2,"
    "ready+for ARG2, excited+about ARG0, nice+to ARG2, kind+to ARG2, useful+for ARG2, useful+to ARG2, "
    "busy+with ARG2,"
    "glad+of ARG0, happy+about ARG0, happy+with ARG0, happy+for ARG0, capable+of ARG2, aware+of ARG1, "
    "famous+for ARG1,"
    "late+for ARG2, free+of ARG2, married+to ARG2, curious+about ARG0, true+of ARG1, jealous+of ARG1, mad+at ARG2"
)

NEGATIVE_ADJECTIVES = words("impossible unable unlikely invisible")

# --- nouns ------------------------------------------------------------------------------------------------------

AGENT_NOUNS = _table(
    "teacher teach-01, explorer explore-01, hunter hunt-01, traveler travel-01, traveller travel-01, merchant"
    " merchandise-01, drinker drink-01, tippler tipple-01, painter paint-02, writer write-01, author author-01,"
    "singer sing-01, dancer dance-01, player play-01, worker work-01, driver drive-01, reader read-01, "
    "winner win-01,"
    "runner run-02, speaker speak-01, leader lead-02, founder found-01, director direct-01, producer produce-01,"
    "composer compose-02, manager manage-01, owner own-01, user use-01, buyer buy-01, seller sell-01, "
    "killer kill-01,"
    "inventor invent-01, designer design-01, builder build-01, student study-01, performer perform-01, "
    "actor act-01,"
    "actress act-01, teller tell-01, listener listen-01, lover love-01, dreamer dream-01, thinker think-01,"
    "photographer photograph-01, scientist science, admirer admire-01, voter vote-01, visitor visit-01, "
    "cook cook-01,"
    "employee employ-01, murderer murder-01, fighter fight-01, helper help-01, learner learn-01, "
    "lamplighter light-04,"
    "researcher research-01, creator create-01, criminal crime-02, robber rob-01, trader trade-01, "
    "wanderer wander-01"
)
"""Nouns for a person by what they do: `person :ARG0-of teach-01`."""

RELATIONS = words(
    "father mother dad mom mum daddy mommy brother sister son daughter husband wife uncle aunt cousin grandfather "
    "grandmother grandma grandpa nephew niece friend girlfriend boyfriend neighbor neighbour colleague roommate "
    "parent fiance fiancee classmate flatmate stepmother stepfather sibling spouse buddy"
)
"""Persons by relation: `person :ARG0-of (have-rel-role-91 :ARG1 whose :ARG2 father)` when it is said whose."""

ROLES_IN_ORGANISATIONS = words(
    "president minister king queen chairman ceo secretary senator governor mayor boss manager chancellor "
    "judge pope "
    "emperor monarch prime-minister spokesman spokeswoman coach captain"
)

EVENT_NOUNS = _table(
    "question question-01, answer answer-01, thought think-01, fault fault-01, look look-01, love love-01,"
    "order order-01, journey journey-01, proof prove-01, understanding understand-01, kindness kind-01, thirst"
    " thirst-01, hunger hunger-01, breakfast breakfast-01, tie tie-01, copy copy-01, explanation "
    "explain-01, trouble trouble-01, work work-01, need need-01,"
    "dream dream-01, fear fear-01, hope hope-01, help help-01, use use-01, visit visit-01, effort effort-01,"
    "reply reply-01, decision decide-01, discovery discover-01, description describe-01, discussion discuss-01,"
    "conversation converse-01, talk talk-01, walk walk-01, fight fight-01, attack attack-01, death die-01, "
    "birth bear-02,"
    "arrival arrive-01, departure depart-01, return return-01, choice choose-01, change change-01, "
    "movement move-01,"
    "meeting meet-03, wedding wed-01, marriage marry-01, feeling feel-01, beginning begin-01, start start-01,"
    "end end-01, growth grow-01, plan plan-01, promise promise-01, proposal propose-01, suggestion suggest-01,"
    "request request-01, knowledge know-01, belief believe-01, travel travel-01, trip trip-03, flight fly-01,"
    "performance perform-01, production produce-01, invention invent-01, creation create-01, competition "
    "compete-01,"
    "support support-01, attempt attempt-01, desire desire-01, wish wish-01, interest interest-01, "
    "surprise surprise-01,"
    "respect respect-01, pride pride-01, shame shame-01, pity pity-01, regret regret-01, anger anger-01, "
    "sleep sleep-01,"
    "excitement excite-01, embarrassment embarrass-01, admiration admire-01, agreement agree-01, argument argue-01,"
    "research research-01, study study-01, experience experience-01, mistake err-01, error err-01, war war-01,"
    "practice practice-01, election elect-01, education educate-01, investigation investigate-01, murder murder-01,"
    "apology apologize-01, complaint complain-01, advice advise-01, news news, call call-02, smile smile-01, laugh"
    " laugh-01, laughter laugh-01, reflection reflect-02, remark remark-01, appearance appear-01, silence silent,"
    "beauty beauty, truth truth, responsibility responsible-03, difference differ-02, difficulty difficult,"
    "inhabitant inhabit-01, payment pay-01, purchase purchase-01, sale sell-01, loss lose-02, gift gift-01,"
    "response respond-01, reaction react-01, relationship relation-03, connection connect-01, permission permit-01,"
    "behavior behave-01, behaviour behave-01, treatment treat-01, doubt doubt-01, worry worry-01, "
    "curiosity curious-01,"
    "patience patient-01, existence exist-01, importance important-01, danger danger, risk risk-01, job job"
)
"""Nouns for an event or state: the frame itself."""

RESULT_NOUNS = _table("painting paint-02, gift give-01, belongings belong-01, invention invent-01")

PARTS = words(
    "part side end top bottom middle center centre corner edge head face eye hand arm leg foot heart hair "
    "mouth nose ear "
    "finger tail wing petal root branch leaf thorn door window roof wall floor page chapter drop piece "
    "member rest half"
)
"""Nouns for a part of something: `of` and possessors give `:part-of`."""

TIME_UNITS = words("second minute hour day week month year decade century millisecond")
DISTANCE_UNITS = words("meter metre kilometer kilometre mile foot inch yard centimeter km cm mm")
MASS_UNITS = words("kilogram kg gram pound ounce ton tonne")
MONEY_UNITS = words("dollar euro pound-sterling cent franc yen rupee peso buck sou")
TIMES_OF_DAY = words("morning afternoon evening night noon midnight sunset sunrise dawn dusk")
TIME_NOUNS = words(
    "time moment day night morning evening afternoon week month year hour minute second today tomorrow yesterday "
    "tonight monday tuesday wednesday thursday friday saturday sunday weekend summer winter spring autumn january "
    "february march april may june july august september october november december noon midnight dawn "
    "sunset century "
    "decade season age past future childhood christmas easter birthday now then"
)

MONTHS = {
    name: str(number)
    for number, name in enumerate(
        _list("january february march april may june july august september october november december"), start=1
    )
}
MONTHS.update({name[:3]: number for name, number in list(MONTHS.items())})
WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday")

PERSON_NOUNS = words(
    "man woman boy girl child person people gentleman lady king prince queen friend baby kid guy somebody someone "
    "anybody anyone everybody everyone nobody geographer businessman astronomer switchman fox snake"
)

# --- small words ------------------------------------------------------------------------------------------------

PRONOUNS = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself"), "i"),
    **dict.fromkeys(("you", "your", "yours", "yourself", "yourselves", "u", "ya", "ur"), "you"),
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
    **dict.fromkeys(("it", "its", "itself"), "it"),
    **dict.fromkeys(("we", "us", "our", "ours", "ourselves", "'s"), "we"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "they"),
    **dict.fromkeys(("one", "oneself"), "one"),
}
REFLEXIVES = words("myself yourself yourselves himself herself itself ourselves themselves oneself")

NUMBERS = {
    word: str(value)
    for value, word in enumerate(
        _list(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        )
    )
}
NUMBERS.update(
    dict(zip(_list("thirty forty fifty sixty seventy eighty ninety"), map(str, range(30, 100, 10)), strict=True))
)
MULTIPLIERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
ORDINALS = {
    word: str(value)
    for value, word in enumerate(
        _list("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"), start=1
    )
}
ORDINALS["last"] = "-1"

DEGREE_ADVERBS = words(
    "very so too quite rather really extremely almost nearly hardly fairly pretty slightly totally completely "
    "absolutely more most less least enough much entirely altogether utterly highly deeply terribly little bit "
    "particularly especially super incredibly greatly scarcely barely somewhat partly as all"
)
TIME_ADVERBS = words(
    "now then always ever never already still soon later before afterwards today tomorrow yesterday "
    "tonight recently finally currently immediately lately nowadays first last "
    "at-last formerly "
    "meanwhile ago since eventually yet anymore"
)
FREQUENCY_ADVERBS = words("often sometimes usually rarely seldom frequently occasionally twice daily weekly")
PLACE_ADVERBS = words(
    "here there everywhere somewhere anywhere nowhere home outside inside upstairs downstairs abroad nearby elsewhere"
)
DIRECTION_ADVERBS = words("away back down up out off forward around over along on in by through ahead aside")
MOD_ADVERBS = words(
    "only just even also too again once else instead perhaps maybe certainly indeed anyway especially "
    "exactly surely "
    "probably either alone merely simply really actually of-course at-all however therefore together"
)
PROBABLE = _table("maybe possible-01, perhaps possible-01, probably probable, possibly possible-01, surely sure-02")

ADVERB_CONCEPTS = _table(
    "never ever, well well, hard hard-02, fast fast-02, only only, early early, slowly slow-05, quickly quick-02,"
    "really really, likely likely-01, easily easy-05, clearly clear-06, happily happy-01, sadly sad-02, "
    "badly bad-07,"
    "carefully careful, truly true-01, completely complete-02, immediately immediate, finally final, "
    "recently recent,"
    "exactly exact, absolutely absolute, certainly certain, probably probable, possibly possible-01, "
    "simply simple-02,"
    "gently gentle, shyly shy, daily daily, early early, probably probable, directly direct-02, suddenly sudden,"
    "especially especially, nearly nearly, hardly hardly, scarcely scarce, entirely entire, merely mere, "
    "gladly glad-02,"
    "particularly particular, unfortunately fortunate-01, fortunately fortunate-01, currently current, "
    "deeply deep-02,"
    "highly high-02, differently differ-02, equally equal-01, seriously serious-01, surely sure-02, "
    "actually actual-02,"
    "usually usual, originally original, naturally natural-03, obviously obvious-01, apparently appear-02, "
    "newly new-01,"
    "highly high-02, widely wide-02, closely close-10, perfectly perfect-02, totally total, angrily anger-01"
)
"""Adverbs whose concept is not found by taking off -ly."""

NEGATIVE_ADVERBS = words("never hardly unfortunately nowhere")

SUBORDINATORS = {
    "because": "cause",
    "if": "condition",
    "unless": "condition",
    "when": "time",
    "whenever": "time",
    "while": "time",
    "as": "time",
    "although": "concession",
    "though": "concession",
    "before": "before",
    "after": "after",
    "until": "until",
    "till": "until",
    "since": "since",
    "so": "purpose",
    "where": "location",
    "once": "time",
    "whereas": "contrast",
    "in": "purpose",
    "like": "manner",
    "for": "cause",
    "than": "compared",
    "that": "purpose",
    "lest": "purpose",
}

PREPOSITION_DEFAULTS = {
    "about": "topic",
    "by": "manner",
    "for": "purpose",
    "from": "source",
    "in": "location",
    "inside": "location",
    "at": "location",
    "on": "location",
    "onto": "destination",
    "into": "destination",
    "to": "destination",
    "with": "accompanier",
    "without": "accompanier",
    "during": "time",
    "despite": "concession",
    "as": "prep-as",
    "of": "poss",
    "via": "path",
    "through": "path",
    "toward": "direction",
    "towards": "direction",
    "against": "prep-against",
    "upon": "location",
    "per": "frequency",
    "regarding": "topic",
    "concerning": "topic",
}
"""What a preposition's phrase is to a verb, where nothing closer is known."""

PLACING = words(
    "under over behind between among above below beside near around beyond across opposite along against "
    "beneath underneath inside outside past amid amidst within up down off throughout alongside"
)
"""Prepositions that keep their meaning: `:location (under :op1 tree)`."""

TIMING = words("after before since until till by")
"""Prepositions of time that keep their meaning: `:time (after :op1 war)`."""

DETERMINERS = {
    "this": ("mod", "this"),
    "that": ("mod", "that"),
    "these": ("mod", "this"),
    "those": ("mod", "that"),
    "all": ("mod", "all"),
    "both": ("mod", "both"),
    "every": ("mod", "every"),
    "each": ("mod", "each"),
    "any": ("mod", "any"),
    "some": ("quant", "some"),
    "another": ("mod", "another"),
    "such": ("mod", "such"),
    "either": ("mod", "either"),
    "half": ("quant", "half"),
    "many": ("quant", "many"),
    "much": ("quant", "much"),
    "few": ("quant", "few"),
    "several": ("quant", "several"),
    "more": ("quant", "more"),
    "most": ("quant", "most"),
    "enough": ("quant", "enough"),
    "little": ("quant", "little"),
    "less": ("quant", "less"),
}

INTERJECTIONS = words(
    "oh ah hey wow yeah yes no ok okay hello hi bye goodbye hmm hum haha lol ouch oops ugh please thanks "
    "yep nope sure "
    "well alas bravo"
)
SALUTATIONS = words("hello hi bye goodbye hey")
POLITE = words("please pls plz")
GREETINGS = _table("thanks thank-01, thank thank-01, thx thank-01, congratulations congratulate-01, sorry sorry-01")

COUNTRIES = words(
    "france germany england britain italy spain portugal russia china japan india turkey greece egypt "
    "brazil mexico "
    "canada australia america usa uk u.s. u.s.a. u.k. poland sweden norway denmark finland ireland scotland wales "
    "austria switzerland belgium netherlands holland ukraine israel iran iraq syria pakistan afghanistan "
    "korea vietnam "
    "thailand indonesia argentina chile peru cuba nigeria kenya ethiopia morocco algeria iceland hungary romania"
)
STATES = words("california texas florida ohio georgia virginia alaska hawaii arizona nevada oregon utah michigan")
CONTINENTS = words("africa asia europe antarctica")
PLANETS = words("earth mars venus jupiter saturn mercury neptune uranus pluto")
PEOPLES = _table(
    "french France, german Germany, english England, british Britain, italian Italy, spanish Spain, russian Russia,"
    "chinese China, japanese Japan, indian India, turkish Turkey, greek Greece, american America, canadian Canada,"
    "mexican Mexico, irish Ireland, scottish Scotland, dutch Netherlands, swiss Switzerland, swedish Sweden,"
    "polish Poland, brazilian Brazil, australian Australia, korean Korea, egyptian Egypt, roman Rome"
)

FIXED_PHRASES: dict[tuple[str, ...], tuple[str, str]] = {
    tuple(words.split()): (concept, role)
    for words, concept, role in (
        ("at all", "at-all", "mod"),
        ("at last", "at-last", "time"),
        ("at first", "at-first", "time"),
        ("at once", "at-once", "time"),
        ("of course", "of-course", "mod"),
        ("to be sure", "to-be-sure", "mod"),
        ("no longer", "no-longer", "time"),
        ("any longer", "any-longer", "time"),
        ("any more", "anymore", "time"),
        ("once more", "again", "mod"),
        ("once again", "again", "mod"),
        ("as well", "also", "mod"),
        ("all over", "all-over", "location"),
        ("right now", "now", "time"),
        ("right away", "right-away", "time"),
        ("just now", "just-now", "time"),
        ("of consequence", "consequential-01", "ARG1-of"),
        ("no one", "no-one", ""),
        ("any one", "anyone", ""),
        ("every one", "everyone", ""),
        ("some one", "someone", ""),
        ("each other", "each-other", ""),
        ("grown - up", "grown-up", ""),
        ("grown - ups", "grown-up", ""),
        ("in fact", "in-fact", "mod"),
        ("for example", "exemplify-01", "ARG0-of"),
        ("for instance", "exemplify-01", "ARG0-of"),
        ("all right", "all-right", "mod"),
        ("by the way", "by-the-way", "mod"),
        ("a lot", "lot", "degree"),
        ("a little", "little", "degree"),
        ("a bit", "bit", "degree"),
    )
}
"""Phrases that are one concept, and the role they play (empty: whatever their head's role is)."""

NAME_TYPES = {
    "PERSON": "person",
    "GPE": "city",
    "LOC": "location",
    "ORG": "organization",
    "FAC": "facility",
    "WORK_OF_ART": "work-of-art",
    "EVENT": "event",
    "PRODUCT": "product",
    "LAW": "law",
    "LANGUAGE": "language",
    "NORP": "ethnic-group",
}
NAMED_NOUNS = words(
    "river lake mountain ocean sea island desert street road university school college museum hospital hotel "
    "company bank church bridge park war award prize party band team club court county province state city village "
    "airport station newspaper magazine film movie show book song album game festival planet"
)
"""A name that ends in such a noun is of that type: `Nile River` is a river."""
