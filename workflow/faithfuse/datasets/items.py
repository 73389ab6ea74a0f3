"""Stage 1: gather items, responses and ratings of one domain, and check them against each other.

Every input folder holds `items.jsonl`, `responses.jsonl` and `ratings.jsonl` (the form that
`faithfuse data import` writes and that `config/sample/` is in). Nothing that fails a check goes on. Items with nothing
to hold a response against (a reference for their domain, or for summaries the source) are left out and counted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from faithfuse.errors import InputError
from faithfuse.records import EVALUATED_DOMAINS, Domain, Item, Rating, Response, read_records, write_records

FILES = ("items.jsonl", "responses.jsonl", "ratings.jsonl")


class Study(NamedTuple):
    """The items of one domain with what was answered to them and what people said of the answers.

    `left_out` says, per folder that had any, which items, responses and ratings were left out and why.
    """

    items: list[Item]
    responses: list[Response]
    ratings: list[Rating]
    left_out: list[str]


def read_study(folder: Path, domain: Domain) -> Study:
    """Read one folder and keep one domain, without the items that no metric can be computed of.

    Raises:
        InputError: a file is missing or a record is malformed; a response or rating names an item that does not
            exist, a rating names a response or a point that does not exist; or none of the domain's items has a
            reference (a summary: or a source).
    """
    for name in FILES:
        if not (folder / name).is_file():
            raise InputError(
                f"has no {name}",
                path=folder,
                fix=f"A data folder holds {', '.join(FILES)}; `faithfuse data import` writes them.",
            )
    items = read_records(folder / "items.jsonl", Item)
    responses = read_records(folder / "responses.jsonl", Response)
    ratings = read_records(folder / "ratings.jsonl", Rating)
    check(items, responses, ratings, folder)
    summaries = domain == Domain.SUMMARISATION
    of_domain = [item for item in items if item.domain == domain]
    bare = {item.item_id for item in of_domain if not item.gold() and not (summaries and item.context)}
    if bare and len(bare) == len(of_domain):
        raise InputError(
            f"has no reference for {domain}, and neither has any other item of the folder",
            path=folder / "items.jsonl",
            record=of_domain[0].item_id,
            fix="Give items references (short, long or points), or leave the folder out.",
        )
    ids = {item.item_id for item in of_domain} - bare
    study = Study(
        [item for item in of_domain if item.item_id in ids],
        [response for response in responses if response.item_id in ids],
        [rating for rating in ratings if rating.item_id in ids],
        [],
    )
    if bare:
        lost = (sum(record.item_id in bare for record in records) for records in (responses, ratings))
        study.left_out.append(
            "{}: left out {} of {} items without a reference for {}, with their {} responses and {} ratings".format(
                folder, len(bare), len(of_domain), domain, *lost
            )
        )
    return study


def check(items: Sequence[Item], responses: Sequence[Response], ratings: Sequence[Rating], folder: Path) -> None:
    """Check that the three files of one folder fit each other; see `read_study` for the errors."""
    known = {item.item_id for item in items}
    answered: dict[tuple[str, str], Response] = {}
    for response in responses:
        if response.item_id not in known:
            raise InputError(
                "answers an item that does not exist",
                path=folder / "responses.jsonl",
                record=f"{response.item_id} {response.system}",
                fix="Add the item to items.jsonl or remove the response.",
            )
        answered[response.item_id, response.system] = response
    for rating in ratings:
        response = answered.get((rating.item_id, rating.system))
        record = f"{rating.item_id} {rating.system} {rating.annotator}"
        if response is None:
            raise InputError(
                "rates a response that does not exist",
                path=folder / "ratings.jsonl",
                record=record,
                fix="Add the response to responses.jsonl or remove the rating.",
            )
        if rating.point is not None and rating.point >= len(response.points):
            raise InputError(
                f"rates point {rating.point}, but the response has {len(response.points)} points, counted from 0",
                path=folder / "ratings.jsonl",
                record=record,
                fix="Correct the point, or give the response its `points`.",
            )


def gather(folders: Sequence[Path], domain: Domain, limit: int | None = None, seed: int = 0) -> Study:
    """Join several folders; `limit` draws that many items, seeded, with all their responses and ratings.

    Raises:
        InputError: two folders share an item id, nothing of this domain is found, or a folder has none with a
            reference.
    """
    studies = [read_study(folder, domain) for folder in folders]
    owner: dict[str, Path] = {}
    for folder, study in zip(folders, studies, strict=True):
        for item in study.items:
            if item.item_id in owner:
                raise InputError(
                    f"is also in {owner[item.item_id]}",
                    path=folder / "items.jsonl",
                    record=item.item_id,
                    fix="Item ids must be unique over all inputs; rename one of the two.",
                )
            owner[item.item_id] = folder
    items = sorted((item for study in studies for item in study.items), key=Item.sort_key)
    if not items:
        raise InputError(
            f"no {domain} item in {', '.join(map(str, folders))}",
            fix="Remove the domain from `domains` in the config, or add items of it.",
        )
    if limit is not None and limit < len(items):
        items = sorted(random.Random(seed).sample(items, limit), key=Item.sort_key)
    kept = {item.item_id for item in items}
    return Study(
        items,
        [response for study in studies for response in study.responses if response.item_id in kept],
        [rating for study in studies for rating in study.ratings if rating.item_id in kept],
        [line for study in studies for line in study.left_out],
    )


def register_items(app: typer.Typer) -> None:
    """Add `faithfuse items` to the app."""

    @app.command()
    def items(
        folders: list[Path] = typer.Argument(..., help="Folders with items, responses and ratings."),
        domain: Domain = typer.Option(..., help="The domain to gather."),
        limit: int | None = typer.Option(None, min=1, help="Draw this many items (seeded)."),
        seed: int = typer.Option(0, help="Seed of the draw."),
        out: Path = typer.Option(..., help="Folder for items.jsonl, responses.jsonl, ratings.jsonl."),
    ) -> None:
        """Check items, responses and ratings against each other and gather those of one domain."""
        if domain not in EVALUATED_DOMAINS:
            raise InputError(
                f"{domain} exists in the data set alone", fix=f"Choose from {', '.join(EVALUATED_DOMAINS)}."
            )
        study = gather(folders, domain, limit, seed)
        for name, records in zip(FILES, study[: len(FILES)], strict=True):
            write_records(out / name, records)
        typer.echo(
            f"{domain}: {len(study.items)} items, {len(study.responses)} responses, {len(study.ratings)} ratings"
        )
        for line in study.left_out:
            typer.echo(f"  {line}")
