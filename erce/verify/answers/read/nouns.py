"""The words that may follow a number without changing its value: what is counted, and how it is described."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COUNTED = _words(
    # mathematics
    "unit way value integer number digit solution root zero factor divisor multiple prime term element "
    "subset set point vertex vertices edge side face diagonal triangle rectangle square circle polygon "
    "quadrilateral hexagon pentagon octagon cube sphere cone cylinder prism pyramid angle arc line "
    "segment ray plane region intersection intercept axis axes asymptote path route permutation "
    "combination arrangement sequence function polynomial equation coefficient variable matrix matrices "
    "vector graph tree outcome case pair triple tuple partition color colour coloring colouring code sum "
    "product difference average mean median mode range area volume length width height depth perimeter "
    "circumference radius radii diameter distance speed rate ratio probability possibility choice "
    "selection option row column step move roll toss throw draw turn round game match goal hit win loss "
    "tie score mark grade test question answer problem exercise quiz quizzes exam cell block tile dot "
    "revolution rotation cycle lap tangent chord lattice symmetry reflection "
    # people
    "person people man men woman women child children kid boy girl baby babies student pupil teacher "
    "graduate classmate friend guest member player adult teen teenager worker employee volunteer customer "
    "client patient passenger rider driver visitor tourist family families parent mother father sister "
    "brother sibling son daughter cousin aunt uncle nephew niece grandchild grandchildren neighbor "
    "neighbour senior junior freshman freshmen doctor nurse lawyer coach coaches judge soldier sailor "
    "actor actress singer dancer musician artist chef waiter fan follower voter resident citizen "
    "inhabitant survivor attendee athlete camper scout surfer runner skater swimmer cheerleader vampire "
    "pirate knight prince princess king queen team crew group crowd committee club class classes school "
    "company band army tribe couple roommate "
    # time
    "season semester generation session lesson shift night morning afternoon evening weekend weekday "
    "birthday workday trip time visit "
    # money
    "bill coin note check ticket profit cost price tax fee tip debt loan payment allowance salary "
    "salaries wage savings money income budget discount fine charge refund share bonus coupon token buck "
    "quid peso "
    # food
    "meal breakfast lunch lunches dinner snack dish dishes course serving portion helping bite slice loaf "
    "loaves bun bagel muffin cake cupcake cookie brownie biscuit pie tart pastry pastries donut doughnut "
    "croissant pancake waffle pizza sandwich sandwiches burger hamburger hotdog taco burrito wrap sausage "
    "steak meatball egg apple orange banana pear peach peaches plum cherry cherries grape berry berries "
    "strawberry strawberries blueberry blueberries raspberry raspberries blackberry blackberries "
    "cranberry cranberries lemon lime melon watermelon mango mangos mangoes papaya kiwi coconut pineapple "
    "avocado avocados tomato tomatoes potato potatoes carrot onion pepper cucumber eggplant pumpkin "
    "mushroom bean pea nut peanut almond walnut pistachio radish radishes lettuce cabbage corn cob ear "
    "clove candy candies lollipop sweet chocolate bar gumball gum gummy jellybean marshmallow popsicle "
    "dessert sundae cracker chip pretzel fry fries soda drink juice smoothie milkshake coffee tea latte "
    "beer wine water milk cheese butter bread rice flour sugar salt oil honey jam jelly soup salad sauce "
    "cereal pasta noodle meat beef pork ham bacon chicken turkey fish fishes shrimp oyster crab lobster "
    "calorie carb protein ingredient recipe batch batches topping "
    # animals and plants
    "animal pet dog puppy puppies cat kitten kitty bird parrot pigeon crow duck duckling goose geese hen "
    "rooster chick swan penguin eagle owl cow calf calves bull horse pony ponies donkey pig piglet sheep "
    "lamb goat rabbit bunny bunnies hamster mouse mice rat squirrel fox foxes wolf wolves bear lion tiger "
    "leopard elephant giraffe zebra monkey gorilla panda deer moose rhino hippo kangaroo koala camel "
    "whale dolphin shark seal turtle tortoise frog toad lizard gecko snake alligator crocodile dinosaur "
    "insect bug bee ant butterfly butterflies beetle spider fly flies flea mosquito mosquitoes worm "
    "caterpillar snail starfish goldfish guppy guppies minnow tadpole dragon unicorn monster bacteria "
    "flower rose tulip daisy daisies lily lilies sunflower orchid petal leaf leaves branch branches bush "
    "bushes plant seed seedling sapling vine acorn pinecone log stick twig weed hive nest leg tail wing "
    "paw horn "
    # things
    "thing item object piece part bit kind type sort copy copies box boxes bag sack packet pack package "
    "parcel carton crate bin basket bucket barrel bottle can jar jug cup mug glass glasses bowl plate pan "
    "pot tray tub tank tube tin container pouch pouches bundle stack pile heap bunch bunches bouquet pen "
    "pencil crayon marker eraser ruler notebook book novel magazine newspaper comic page chapter story "
    "stories paragraph sentence word letter poem essay paper sheet card postcard stamp envelope sticker "
    "poster photo photograph picture painting drawing portrait map flyer brochure pamphlet report email "
    "message text call article post video movie film show episode song album record track tape disc disk "
    "file folder megabyte gigabyte kilobyte byte pixel computer laptop phone tablet camera tv television "
    "radio screen monitor app program machine device engine robot toy doll ball marble lego puzzle "
    "balloon kite bead bracelet necklace earring jewel gem diamond crystal pearl shell seashell rock "
    "stone pebble brick board plank nail screw bolt pin needle button thread string rope ribbon wire "
    "chain link pipe hose spring wheel tire tyre spoke gear bike bicycle car truck van bus buses train "
    "airplane boat ship ferry motorcycle scooter vehicle tractor wagon cart seat chair table desk bench "
    "benches sofa couch bed lamp light bulb candle matchstick matches mirror clock watch watches door "
    "window wall floor ceiling room bedroom bathroom house home apartment building store shop stall "
    "office hotel library libraries factory factories farm barn field garden lawn yard park pool lake "
    "pond river mountain hill island country countries state city cities town village street road avenue "
    "fence gate bridge tower stair rung ladder shelf shelves drawer cabinet closet rack hook shirt tshirt "
    "sweater jacket coat dress dresses skirt pants jeans shorts sock shoe boot sandal slipper hat cap "
    "scarf scarves glove mitten belt costume uniform jersey towel blanket quilt pillow curtain carpet rug "
    "mat cloth outfit knife knives fork spoon teaspoon tablespoon tsp tbsp scoop pinch dash drop gram "
    "spool skein bale bushel load shot dose dosage pill capsule bandage vaccine mask tooth teeth "
    "toothbrush toothpick finger toe hand arm eye head hair nose heart bone muscle gene atom molecule "
    "particle proton electron mole star planet moon galaxy galaxies comet cloud snowflake snowball "
    "snowman snowmen raindrop storm wave medal trophy trophies prize award badge flag sign banner "
    "streetlight tent backpack suitcase purse wallet key lock umbrella guitar drum piano violin trumpet "
    "flute bell magnet battery batteries tool hammer saw drill shovel rake brush paintbrush kit lens "
    "feather bubble widget gadget gift present decoration ornament firework streamer chalk die dice "
    "domino dominoes checker pawn jump hop skip pushup situp squat rep mile stitch stitches patch patches "
    "spot stripe hole pocket sleeve collar vote ballot election poll sale order purchase trade delivery "
    "deliveries shipment donation chore task job project assignment activity activities event party "
    "parties meeting concert race tournament inning touchdown strikeout rebound assist foul penalty serve "
    "attempt try trial mistake error accident flight ride tour hike walk kilowatt megawatt kilojoule "
    "kilocalorie watt horsepower decibel knot furlong acre hectare league fathom carat karat ream quartet "
    "truckload bagful cupful handful spoonful level stage phase section chunk sample category categories "
    "species breed variety varieties flavor flavour style design pattern shape size version model brand "
    "genre beat measure octave tune drumstick stroke blow kick punch punches stanza verse syllable vowel "
    "consonant character symbol name address signature fruit vegetable space kernel tissue haircut vlog "
    "pup female male channel ring restaurant figurine classroom cheesecake appetizer lottery supply "
    "supplies strand statue cluster artwork crown diaper baguette carriage cricket blouse bath beaker "
    "gnome subject sideline treat tangerine olive yogurt lady ladies human enemy enemies website textbook "
    "weasel view viewer hall occupant delegate collector counselor professor bacterium virus viruses germ "
    "colony colonies population straw carnation poodle whisker instance limb gemstone clip vibration diary "
    "diaries seagull pallet pail grain shingle bat clerk paperclip clover highlighter pump washer dive "
    "business businesses teacup kitchen vessel yolk stem tear newborn riddle plug tattoo aquarium treasure "
    "pitch pitches jogger scientist crater hoodie apron fire participant stapler souvenir shower loop "
    "contact claim lives permit crop mascot llama hybrid complaint artifact carpenter period joke gig "
    "napkin vacation individual download upload instruction thorn elf elves driveway basketball cd dvd"
)
_UNCOUNTED = _words("feet inches dollars cents pence yen yuan won")

# Words between a number and what is counted.
DESCRIBING = _words(
    "distinct different possible positive negative nonnegative real complex rational irrational natural "
    "whole even odd consecutive prime composite perfect ordered unordered right acute obtuse isosceles "
    "equilateral scalene congruent similar regular equal unique such valid nonzero significant red orange "
    "yellow green blue purple violet pink brown black white gray grey gold golden silver bronze copper "
    "colored coloured dark light bright striped plain clear large larger small smaller big bigger little "
    "tiny huge giant medium long short tall wide thick thin deep heavy full empty new old young fresh "
    "used clean dirty hot cold warm cool wet dry soft hard sweet sour ripe rotten broken single double "
    "triple male female adult baby human wild tame stuffed wooden metal plastic glass paper rubber cotton "
    "leather stone brick additional extra remaining other total more fewer average daily weekly monthly "
    "annual yearly first second third fourth fifth sixth seventh eighth ninth tenth american canadian "
    "australian fluid metric cubic square sq cu linear nautical standard free original combined "
    "individual separate personal popular favorite favourite special high low middle top bottom left math "
    "science english history art music soccer basketball football baseball tennis golf hockey chocolate "
    "vanilla strawberry birthday ice cream peanut butter jelly potato"
)
# Words after what is counted, or alone after a number.
TRAILING = _words(
    "each apiece total altogether overall left more fewer remaining old long wide tall high deep away "
    "apart ago all daily weekly monthly yearly annually hourly later earlier early percent th st nd rd"
)
# Words that say in which direction a number counts.
SENSES = {
    **dict.fromkeys(("more", "later", "profit", "win", "wins"), "+"),
    **dict.fromkeys(("fewer", "earlier", "ago", "loss", "losses"), "-"),
}
LINKING = _words("of per a an the in every and")

_PLURAL = {"ies": "y", "es": "", "s": ""}


def is_counted(word: str) -> bool:
    """Return whether the word, in lower case, names what a number counts: "apples", "way", "children".

    >>> is_counted("cherries"), is_counted("wrong"), is_counted("tens")
    (True, False, False)
    """
    if word in _COUNTED or word in _UNCOUNTED:
        return True
    return any(
        word.endswith(ending) and word[: -len(ending)] + singular in _COUNTED
        for ending, singular in _PLURAL.items()
    )
