"""The words of a report that need an explanation, each with the sentence that explains it."""

TERMS = {
    "sampled": "The share of right completions among those drawn at the recipe's temperature.",
    "greedy": "The share of problems whose likeliest completion, token by token, is right.",
    "gain": "The share that is right, minus the same share at λ = 0, in percentage points.",
    "95 % interval": (
        "In 95 of 100 studies like this one, with other seeds and other problems of the same kind, such an "
        "interval contains the true gain. With one seed it covers other problems alone."
    ),
    "p": "How often a gain this large comes by chance where there is none, corrected for all rows (Holm).",
    "±": "The sample standard deviation over seeds (n − 1), on these very problems.",
    "any form": (
        "The share of samples that are right if the form of the answer is ignored: a stated answer or a last "
        "number counts too. A gain that goes away here is one of format."
    ),
    "validation": (
        "The share that is right on problems that are neither trained nor tested on. λ is chosen there, as "
        "the best row of the test table would overstate its gain."
    ),
    "tokens": "The mean length of a sample.",
    "nats": "The mean entropy of a sample's next-token distributions.",
    "before": "Tokens that the base model sampled of the training problems before this arm could be trained.",
    "pass@k": "The chance that at least one of k samples of a problem is right.",
    "maj@k": "The chance that the answer of most of k samples is right; ties are split.",
    "best@k": "The chance that the likeliest of k samples is right.",
    "control": (
        "A task on which only one output is accepted, so that the penalty has nothing to choose between and "
        "should not help."
    ),
}
