"""What a comparison has found, in plain sentences made from its numbers."""

from typing import Any

from .contenders import CROSS
from .intervals import Estimate
from .measuring import ALONE, SEARCH
from .numbers import as_estimate

Results = dict[str, Any]


def findings(results: Results) -> list[str]:
    """The first lines of a report."""
    found = [
        _who_is_stronger(results),
        *_even(results),
        _price(
            results, "price of the learned model", f"{CROSS}, against MuZero with its own model"
        ),
        _price(results, "price of training through it", f"AlphaZero against {CROSS}"),
        *(_search(results, name) for name in ("AlphaZero", "MuZero")),
        *_model(results),
        _ratings(results),
    ]
    return [sentence for sentence in found if sentence]


def measure(results: Results) -> tuple[str, str]:
    """What strength means here: before and after the number."""
    if results["strength"]["measure"] == "kept":
        return "keeps the game value in", f"of {results['strength']['truth']}"
    rungs = " and ".join(f"mcts:{rung}" for rung in results["settings"]["rungs"])
    return "scores", f"against {rungs}"


def percent(found: Estimate, digits: int = 1) -> str:
    """A share with its interval, `87.5 % [81.0, 92.0]`, with `digits` unless more are known."""
    digits = _digits(found, digits)
    text = f"{100 * found.mean:.{digits}f} %"
    if not found.known:
        return text
    return f"{text} [{100 * found.low:.{digits}f}, {100 * found.high:.{digits}f}]"


def points(found: Estimate, digits: int = 1) -> str:
    """A difference of shares, `+3.1 points [-0.2, +6.4]`, with `digits` unless more are known."""
    digits = _digits(found, digits)
    text = f"{100 * found.mean:+z.{digits}f} points"
    if not found.known:
        return text
    return f"{text} [{100 * found.low:+z.{digits}f}, {100 * found.high:+z.{digits}f}]"


def _digits(found: Estimate, digits: int) -> int:
    """Two, at least, of an interval that is narrower than a point."""
    narrow = found.known and found.high - found.low < 0.01
    return max(digits, 2) if narrow else digits


def verdict(found: Estimate) -> str:
    """What an interval lets one say of a difference."""
    alone = len(found.by_seed) == 1
    if not found.known and found.mean == 0:
        return "the same with this seed" if alone else "the same with every seed"
    if not found.known:
        return "with one seed, without interval" if alone else "by as much with every seed"
    of_whom = " (these two networks: one seed)" if alone else ""
    said = "told apart" if found.tells else "cannot be told apart at this budget"
    return said + of_whom


def _player(results: Results, name: str, how: str) -> Estimate:
    measure = results["strength"]["measure"]
    rows = results["strength"]["players"]
    return as_estimate(next(r[measure] for r in rows if (r["name"], r["how"]) == (name, how)))


def _who_is_stronger(results: Results) -> str:
    simulations = results["training"]["AlphaZero"]["simulations"]
    others = results["training"]["MuZero"]["simulations"]
    simulations = f"{simulations}" if simulations == others else f"{simulations} and {others}"
    one, other = (percent(_player(results, name, SEARCH)) for name in ("AlphaZero", "MuZero"))
    apart = as_estimate(results["strength"]["gaps"]["AlphaZero above MuZero"])
    does, of_what = measure(results)
    return (
        f"With {simulations} simulations a move AlphaZero {does} {one} {of_what}, MuZero {other}: "
        f"{points(apart)}, {verdict(apart)}."
    )


def _even(results: Results) -> list[str]:
    found = []
    for row in results["curves"]["even"]:
        apart = as_estimate(row["apart"])
        amount = amounts(row["budget"], row["amount"])
        strengths = ", ".join(
            f"{name} {percent(as_estimate(x))}" for name, x in row["strength"].items()
        )
        found.append(
            f"After equal expense, {amount}: {strengths}; {points(apart)}, {verdict(apart)}."
        )
    return found


def amounts(budget: str, amount: float) -> str:
    """An expense in words."""
    if budget == "seconds":
        return f"{amount:,.0f} s of training"
    return f"{amount:,.0f} {budget}"


def _price(results: Results, gap: str, who: str) -> str:
    found = as_estimate(results["strength"]["gaps"][gap])
    return f"The {gap} ({who}) is {points(found)}: {verdict(found)}."


def _search(results: Results, name: str) -> str:
    gained = as_estimate(results["strength"]["gained by search"][name])
    alone = _player(results, name, ALONE)
    scaling = results["scaling"]
    row = next(r for r in scaling["contenders"] if r["name"] == name)
    simulations = results["training"][name]["simulations"]
    tried = f" (tried on {scaling['truth']})" if scaling["truth"] else ""
    return (
        f"{simulations} simulations change what {name}'s network is worth alone, {percent(alone)}, "
        f"by {points(gained)}: {verdict(gained)}. Of 0 to {scaling['simulations'][-1]} "
        f"simulations it was strongest with {row['best']}{tried}; for certain weaker: "
        f"{weaker(row)}."
    )


def weaker(row: dict[str, Any]) -> str:
    """The numbers of simulations that are told from the best."""
    return ", ".join(str(number) for number in row["weaker"]) or "none of the others"


def _model(results: Results) -> list[str]:
    """How far the learned model can be trusted."""
    found = []
    name = "value" if _known(results, "value") else "value_to_network"
    truth = "the true value" if name == "value" else "the network's own value of the real position"
    for kind, card in results["cards"].items():
        depth = min(5, len(card[name]) - 1)
        at = [card[row][depth] for row in (name, "illegal", "end")]
        if any(x is None for x in at):
            continue
        value, illegal, end = map(as_estimate, at)
        # The network errs about the real position, too: that is not the model's doing.
        before = (
            f" ({error(as_estimate(card[name][0]))} before any move)" if name == "value" else ""
        )
        found.append(
            f"In {kind}, {depth} moves deep, the learned model misses {truth} by {error(value)} on "
            f"average{before}, puts {percent(illegal)} of its policy on illegal moves, and is "
            f"wrong about the end of the game with probability {percent(end)}."
        )
    return found


def error(found: Estimate) -> str:
    """A mean error with its interval, `0.048 [0.031, 0.065]`."""
    text = f"{found.mean:.3f}"
    return f"{text} [{found.low:.3f}, {found.high:.3f}]" if found.known else text


def _known(results: Results, name: str) -> bool:
    return any(x is not None for card in results["cards"].values() for x in card[name])


def _ratings(results: Results) -> str:
    table = results["ratings"]
    names = ["AlphaZero", CROSS, "MuZero"]
    said = [
        f"{name} {table['elo'][at]:+.0f} [{table['low'][at]:+.0f}, {table['high'][at]:+.0f}]"
        for name in names
        for at in [table["names"].index(name)]
    ]
    alike = [" and ".join(pair) for pair in table["alike"] if set(pair) <= set(names)]
    told = f"; cannot be told apart: {', '.join(alike)}" if alike else ""
    return f"Elo above {table['anchor']}: {', '.join(said)}{told}."
