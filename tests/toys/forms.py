"""How models write a final answer: forms with VALUE in them, and whether each is an answer.

Built after public reports on graders. Every form is tried with the right and with a wrong value, except those
of `DOUBTS`, which are no answer whatever they hold.
"""

STRICT = {  # verify_math, and verify_number where MATH_ONLY does not say otherwise
    "a box": r"So it is $\boxed{VALUE}$.",
    "a box in display maths": "Therefore\n\\[\n\\boxed{VALUE}\n\\]\n",
    "a framed box": r"It is \fbox{VALUE}",
    "a box after a trace": "<think>\nMaybe \\boxed{1}?\n</think>\n\nIt is \\boxed{VALUE}.",
    "a box after a trace that the prompt began": "so 1, that is \\boxed{1}\n</think>\n\\boxed{VALUE}",
    "a second thought": r"\boxed{1}. No, I forgot the last one. It is \boxed{VALUE}.",
    "a box with its reason": r"It is \boxed{VALUE}, because 1 is odd.",
}
MATH_ONLY = {  # strict for verify_math, not strict for verify_number
    "the final answer is": "The final answer is VALUE.",
    "the final answer is, in maths": "Therefore, the final answer is: $VALUE$. I hope it is correct.",
    "the final answer is, and why": "The final answer is VALUE, because 1 is odd.",
    "the final answer is, in bold": "The final answer is **VALUE**",
}
NUMBER_ONLY = {  # strict for verify_number; to verify_math a marker is strict only below a box
    "a marker": "1 and 1\n#### VALUE",
    "a marker, then more": "#### VALUE\n\nThank you.",
    "a marker after a box": "First \\boxed{1}, then\n#### VALUE",
    "headings with a marker's characters": "#### Step 1\nadd up\n#### VALUE",
    "numbered headings": "#### 1. Add\nadd up\n#### 2. Done\nSo \\boxed{VALUE}",
}
FLEXIBLE = {
    "Answer:": "1 and 1.\nAnswer: VALUE",
    "Answer: in bold": "1 and 1.\n\n**Answer:** VALUE",
    "Answer in bold, colon after": "**Answer**: VALUE.",
    "label and value in bold": "**Answer: VALUE**",
    "bold label, bold value": "**Answer:** **VALUE**",
    "Final answer:": "Final Answer: VALUE",
    "the answer is": "So the answer is VALUE.",
    "the correct answer is": "Hence the correct answer is VALUE, which is fine.",
    "the answer to the question is": "The answer to the question is VALUE.",
    "the answer would be": "so the answer would be VALUE",
    "the answer is: on its own line": "The answer is:\n\nVALUE",
    "a heading": "1 and 1\n\n### Final Answer\n\nVALUE\n",
    "a bold heading": "**Final Answer**\n\nVALUE",
    "a heading and display maths": "### Answer\n$$\nVALUE\n$$\n",
    "inline maths": "Answer: $VALUE$",
    "inline maths in parentheses": r"Answer: \(VALUE\)",
    "display maths": "The answer is $$VALUE$$",
    "display maths in brackets": "The answer is\n\\[ VALUE \\]",
    "bold in maths": r"Answer: $\mathbf{VALUE}$",
    "an emoji before it": "✅ **Answer:** VALUE",
    "an emoji after the label": "Final answer: 🎉 VALUE",
    "tags": "<answer>VALUE</answer>",
    "in total": "The answer is VALUE in total.",
    "a reason in parentheses": "Answer: VALUE (since 1 is odd)",
    "money in the reason": "The answer is VALUE, as he already paid $1 of the $300.",
    "a later statement": "The answer is 1.\nWait, I forgot one. The answer is VALUE.",
    "after a trace": "<think>the answer is 1</think>The answer is VALUE",
}
LAST_NUMBER = {  # not strict, and only where the reference is a number
    "a sum": "1 + 1 = VALUE",
    "a sentence": "So she has VALUE.",
    "bold": "She pays **VALUE**",
    "an arrow": "1 + 1 => VALUE",
    "a quotation": "So she has\n> VALUE",
    "maths around it": "Thus $1 + 1 = VALUE$.",
    "a calculator's annotation": "So she has 1+1=<<1+1=VALUE>>VALUE eggs left.",
    "a clause before it": "There are more of these than of those, so she has VALUE.",
}
DOUBTS = {
    "negated": "The answer is not VALUE.",
    "negated, final": "The final answer is not VALUE.",
    "negated before": "I do not think that the final answer is VALUE.",
    "a question": "Is the answer VALUE?",
    "a final question": "So the final answer is VALUE?",
    "less than": "The answer is less than VALUE.",
    "less than, bare": "It is less than VALUE.",
    "at most, bare": "It is at most VALUE.",
    "a sign, bare": "So x > VALUE.",
    "a sign in maths, bare": r"It is $\ge$ VALUE",
    "between": "The answer is between 1 and VALUE.",
    "between, bare": "It lies between 1 and VALUE.",
    "or": "The answer is VALUE or 1.",
    "or, final": "The final answer is VALUE, or 1.",
    "or, bare": "It is 1 or VALUE.",
    "taken back": "The final answer is VALUE, but that is wrong.",
    "taken back in the next sentence": "The answer is VALUE. Wait, that is wrong.",
    "taken back, bare": "It is VALUE, but that is not right.",
    "a box taken back": r"It is \boxed{VALUE}, but that is wrong.",
    "a box called wrong": r"\boxed{VALUE} is incorrect.",
    "a box denied": r"It is not $\boxed{VALUE}$.",
    "a box in a question": r"Is it \boxed{VALUE}?",
    "a box or another number": r"\boxed{VALUE} or 1",
    "two boxes": r"\boxed{VALUE} and \boxed{1}",
    "two boxes, or": r"It is $\boxed{1}$ or $\boxed{VALUE}$.",
    "a bound on a box": r"It is less than \boxed{VALUE}.",
    "an open trace": "<think>\nThe answer is \\boxed{VALUE}.\n#### VALUE",
    "inside a trace": "<think>The final answer is VALUE. \\boxed{VALUE}\n#### VALUE</think> I do not know.",
    "a box that does not close": r"So it is \boxed{VALUE",
    "taken back in two words": "You might think the answer is VALUE. It isn't.",
    "reconsidered": "The final answer is VALUE.\nOh wait, I forgot the first one.",
    "a box reconsidered": "It is \\boxed{VALUE}. Hmm, let me see.",
    "two boxes, or with words": r"We get $\boxed{1}$ or, if the first counts, $\boxed{VALUE}$.",
    "a correction after which": "The final answer is VALUE, which should be 1.",
    "a correction after so": "The answer is VALUE, so wait, 1.",
    "called wrong before it": "The answer was wrong: VALUE",
    "a box or a fraction": r"\boxed{VALUE} or $\frac12$",
    "a box or a word": r"\boxed{VALUE} or six",
    "a guess among others": "Maybe it is 1. It could be that he wanted VALUE.",
    "only supposed": "Suppose the answer is VALUE.",
    "minus": "It is minus VALUE.",
    "an operand": "The total is 2 × VALUE",
    "called incorrect before it": "The incorrect answer is VALUE",
    "impossible": "It is impossible to get VALUE.",
    "anything but": "Anything but VALUE",
}
MARKED_DOUBTS = {
    "a marker with two": "First \\boxed{VALUE}, then\n#### VALUE or 1",
    "a marker with a question": "#### VALUE?",
    "a marker with a bound": "#### < VALUE",
    "a marker taken back": "#### VALUE\nThat is wrong because I forgot one.",
    "a marker reconsidered": "#### VALUE\n\nHang on, it should be 1.",
    "a marker with a correction": "#### VALUE (actually 1)",
    "a marker corrected": "#### VALUE\nCorrection: 1",
    "a marker without a number": "First \\boxed{VALUE}.\n#### none",
}


def fill(form: str, value: str) -> str:
    """Return the form with its value."""
    return form.replace("VALUE", value)
