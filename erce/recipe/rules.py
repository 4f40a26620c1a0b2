"""The rules of a recipe's parts: an InputError names the first value that no run could use."""

import math
import re
from collections.abc import Sequence
from typing import Any

from erce.catalog import (
    ABOVE_0,
    AT_LEAST_0,
    BASE_LOSSES,
    SHARE,
    NumberRule,
    is_user_defined,
    split_number,
    unknown,
)
from erce.errors import InputError, did_you_mean
from erce.recipe.sections import (
    HEADS,
    NORMALIZATIONS,
    OWN_METHODS,
    SCHEDULES,
    SERVERS,
    TRACKERS,
    UNPROVEN,
    WARMUP,
    Decoding,
    OwnSamples,
    Serving,
    Training,
)
from erce.types import Arm

SECRET = "has an @, ? or #, so it may contain a password or key, which every record would keep"
NUMBERS = {  # setting of any section → its rule; every other number is `ABOVE_0`
    "warmup": SHARE,
    "dropout": SHARE,
    "lam_warmup": NumberRule("a share of the steps in [0, 1]", lambda number: 0 <= number <= 1),
    "checkpoint_minutes": AT_LEAST_0,
    "gpus": NumberRule(
        "0, or a share of a device up to 1 (--jobs N takes N devices)", lambda number: 0 <= number <= 1
    ),
    "lam": NumberRule("finite", math.isfinite),
}
CHOICES = {  # setting of any section → the words that it may be
    "normalize": NORMALIZATIONS,
    "head": HEADS,
    "report_to": TRACKERS,
    "lam_schedule": SCHEDULES,
    "kind": SERVERS,
    "unproven": UNPROVEN,
}


def check_section(name: str, section: Any) -> None:
    """Check the settings of a section, each by itself; None is a section that is left out."""
    for setting, value in ({} if section is None else vars(section)).items():
        rule = NUMBERS.get(setting, ABOVE_0)
        if isinstance(value, int | float) and not isinstance(value, bool) and not rule.fits(value):
            raise InputError(f"[{name}] {setting} = {value:g} must be {rule.wanted}")
        if setting in CHOICES:
            check_choice(f"[{name}] {setting}", str(value), CHOICES[setting])


def check_choice(setting: str, value: str, known: tuple[str, ...]) -> None:
    """Check a setting that is one of a few words."""
    if value not in known:
        raise InputError(f"no {setting} {value!r}; {did_you_mean(value.lower(), known)}")


def check_lams(lams: Sequence[float]) -> None:
    """Check the penalty strengths of a grid."""
    lams = list(lams)
    if not lams:
        raise InputError("lams = [] is empty; write at least lams = [0, 1]")
    if not all(map(math.isfinite, lams)):
        raise InputError(f"lams = {lams}: every λ must be a finite number")
    if 0 not in lams:
        raise InputError(f"lams = {lams} has no 0, from which gains are measured; add it")
    if len({f"{lam:g}" for lam in lams}) < len(lams):
        raise InputError(
            f"lams = {lams}: two λ are alike in the six digits that name their cells; leave one out"
        )


def check_seeds(seeds: Sequence[int]) -> None:
    """Check the seeds of a grid."""
    seeds = list(seeds)
    if not seeds:
        raise InputError("seeds = [] is empty; write at least seeds = [0]")
    if min(seeds) < 0:
        raise InputError(f"seeds = {seeds}: a seed is 0 or more")
    if len(set(seeds)) < len(seeds):
        raise InputError(f"seeds = {seeds} names a seed twice; leave one out")


def check_base_loss(name: str) -> None:
    """Check the name of a base loss and its number."""
    kind, number = parse_base_loss(name)
    if name in OWN_METHODS:
        raise InputError(f'base_loss {name!r} is a choice of demonstrations; write methods = ["{kind}"]')
    if kind not in BASE_LOSSES:
        if not is_user_defined(kind):
            raise InputError(
                unknown(
                    "base loss or method", name if kind in OWN_METHODS else kind, (*BASE_LOSSES, *OWN_METHODS)
                )
            )
        if number is not None and math.isnan(number):
            raise InputError(f"base loss {name!r}: what comes after {kind!r} must be a number")
        return
    rule = BASE_LOSSES[kind].number
    if number is not None and (rule is None or not rule.fits(number)):
        wanted = "left out" if rule is None else rule.wanted
        raise InputError(f"base loss {name!r}: its number must be {wanted}")


def check_own(own: OwnSamples | None, arms: Sequence[Arm], lams: Sequence[float]) -> None:
    """Check the section [own] against the arms that need it, and against the grid that it may sample from."""
    check_section("own", own)
    if own is None:
        return
    if not any(arm.method in OWN_METHODS for arm in arms):
        raise InputError(
            "[own] has no effect without an arm that trains on own answers; leave it out, or write "
            'methods = ["rft", "self"]'
        )
    if own.lam is not None and own.lam not in lams:
        raise InputError(f"[own] lam = {own.lam:g} is not one of lams = {list(lams)}; add it there")
    if own.lam is not None and own.adapter is not None:
        raise InputError("[own] names both a lam and an adapter that sample; leave one out")


def parse_arm(text: str) -> Arm:
    """Return the arm that an entry of `methods` names: a method, and perhaps a λ behind a plus or minus sign.

    >>> parse_arm("dft"), parse_arm("rft+4"), parse_arm("dft − 0.5")
    (Arm(lam=0.0, method='dft'), Arm(lam=4.0, method='rft'), Arm(lam=-0.5, method='dft'))
    """
    signed = text.replace("−", "-").replace(" - ", " + -")
    method, *strength = re.split(r"\s*(?<!\de)\+\s*", signed, maxsplit=1)  # but in a number, as 1e+2
    try:
        lam = float(strength[0]) if strength else 0.0
    except ValueError:
        lam = math.nan
    if not math.isfinite(lam):
        raise InputError(f"methods: {text!r} has no finite λ; write one, as in 'dft + 4'")
    return Arm(lam, method.strip())


def parse_base_loss(name: str) -> tuple[str, float | None]:
    """Return the name and the number: None where there is no colon, NaN where no number follows the colon.

    >>> parse_base_loss("focal:2"), parse_base_loss("dft"), parse_base_loss("focal:two")
    (('focal', 2.0), ('dft', None), ('focal', nan))
    """
    kind, number = split_number(name)
    try:
        return kind, None if number is None else float(number)
    except ValueError:
        return kind, math.nan


def check_training(training: Training) -> None:
    """Check the section [training]."""
    check_section("training", training)
    rows, micro = training.batch_size, training.micro_batch_size
    if micro is not None and rows % micro:
        raise InputError(
            f"[training] batch_size = {rows} is not a multiple of micro_batch_size = {micro}; write "
            f"{micro * max(1, rows // micro)}, for instance"
        )
    if training.lam_schedule == "constant" and training.lam_warmup != WARMUP:
        raise InputError(
            f"[training] lam_warmup = {training.lam_warmup:g} has no effect on a constant λ; leave it out"
        )


def check_decoding(decoding: Decoding) -> None:
    """Check the section [decoding]."""
    check_section("decoding", decoding)
    temperatures = list(decoding.temperatures)
    setting = f"[decoding] temperatures = {temperatures}"
    if not all(map(ABOVE_0.fits, temperatures)):
        raise InputError(
            f"{setting}: a temperature is a finite number over 0; greedy completions are always there"
        )
    if len({*temperatures, decoding.temperature}) <= len(temperatures):
        raise InputError(
            f"{setting} names a temperature twice, or temperature = {decoding.temperature:g}, which is "
            "always sampled; leave it out"
        )
    if any(float(f"{temperature:g}") != temperature for temperature in temperatures):
        raise InputError(
            f"{setting}: a temperature has at most six digits, which name its completions; round it"
        )
    if any(not text or "\ufffd" in text for text in decoding.stop):
        raise InputError(
            f"[decoding] stop = {list(decoding.stop)} has an empty text or one with U+FFFD; leave it out"
        )


def check_server(server: Serving, decoding: Decoding) -> None:
    """Check the section [server], beside [decoding]."""
    variable = server.api_key_variable
    if re.search("[@?#]", server.url):  # before any message that shows the address
        raise InputError(
            f"[server] url {SECRET}; write the address alone, and name the key's variable: api_key_variable"
        )
    if (server.gpus is not None or server.args) and not server.start:
        raise InputError("[server] gpus and args are for a server that erce starts; write start = true, too")
    is_local = re.fullmatch(r"(http://(localhost|127\.0\.0\.1):\d+/v1/?)?", server.url) is not None
    if server.start and (server.kind != "vllm" or not is_local):
        raise InputError(
            f"[server] start = true starts a vLLM on this machine, not kind = {server.kind!r} at "
            f'{server.url!r}; leave kind and url out, or write url = "http://localhost:8000/v1"'
        )
    if not server.start and re.match(r"https?://[^/]", server.url) is None:
        raise InputError(
            f"[server] url = {server.url!r} is not a server's address; write url = "
            '"http://localhost:8000/v1", or start = true'
        )
    check_section("server", server)
    if decoding.compile:
        raise InputError("[decoding] compile = true has no effect where a [server] samples; leave it out")
    if variable is not None and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable) is None:
        raise InputError(
            "[server] api_key_variable is not the name of a variable; write the name of the one that holds "
            "the key"
        )
