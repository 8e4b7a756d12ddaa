"""Which bounds a result does not keep, in words."""

from collections.abc import Iterator

from bench.contest import PYKKA, TRIO, MostOfAll, MostOfTrio
from bench.measure import Result


def misses(result: Result) -> Iterator[str]:
    """A sentence for each bound that is not met; pykka is to be beaten wherever it takes part."""
    name, unit = result.bench.name, result.bench.unit
    match result.bench.bound:
        case MostOfTrio(limit) if (ratio := result.ratio(TRIO).median) > limit:
            yield f"{name} takes {ratio:.3g} times plain trio's, at most {limit:g} allowed"
        case MostOfAll(limit) if (value := result.value()) > limit:
            yield f"{name} takes {value:.3g} {unit}, at most {limit:g} {unit} allowed"
        case _:
            pass
    if PYKKA in result.samples and (ratio := result.ratio(PYKKA).median) >= 1:
        yield f"{name} takes {ratio:.3g} times pykka's, which is to be beaten"
