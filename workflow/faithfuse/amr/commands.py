"""Command line of `faithfuse.amr`: `parse`, `smatch` and `amr draw`."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    app.command("parse")(parse)
    app.command("smatch")(smatch)
    amr = typer.Typer(help="AMR graphs.", no_args_is_help=True)
    amr.command("draw")(draw)
    amr.callback()(lambda: None)  # keeps `draw` a subcommand while it is the only one
    app.add_typer(amr, name="amr")


def parse(
    items: Path = typer.Argument(..., help="Items (JSON Lines)."),
    responses: list[Path] = typer.Argument(None, help="Responses (JSON Lines), any number of files."),
    parser: str = typer.Option("rules", help="`rules`, or a parser of the model registry."),
    models: Path = typer.Option(Path("config/models.yaml"), help="The model registry."),
    models_dir: Path = typer.Option(Path(".models"), help="Where fetched models are."),
    out: Path = typer.Option(..., help="Graphs (JSON Lines)."),
    cache: Path | None = typer.Option(None, help="Folder of the cache; graphs in it are not parsed again."),
    threads: int = typer.Option(1, min=1, help="Processes (rules) or torch threads (STOG)."),
    gpus: int | None = typer.Option(
        None, min=0, help="GPUs to take from other jobs of this machine; 0: compute on the CPU."
    ),
    shard: str = typer.Option("1/1", help="K/N: the K-th of N shares of the sentences."),
    whole_transcript: bool = typer.Option(
        False, "--whole-transcript", help="Also parse each dialogue's transcript as one input."
    ),
) -> None:
    """Parse every sentence that a graph metric needs into an AMR graph."""
    from faithfuse.amr.parse import load_parser, parse_all
    from faithfuse.amr.sentences import item_sentences, response_sentences
    from faithfuse.errors import InputError
    from faithfuse.llm.lease import lease_gpus, require_cuda
    from faithfuse.records import Item, Response, read_records, write_records
    from faithfuse.shards import parse_shard

    loaded = read_records(items, Item)
    domains = {item.item_id: item.domain for item in loaded}
    sentences = [s for item in loaded for s in item_sentences(item, whole_transcript=whole_transcript)]
    for path in responses or []:
        for response in read_records(path, Response):
            if response.item_id not in domains:
                raise InputError(
                    "answers an item that is not among the items",
                    path=path,
                    record=response.item_id,
                    fix=f"Add the item to {items}, or remove the response.",
                )
            sentences += response_sentences(response, domains[response.item_id])
    first, step = parse_shard(shard)
    sentences = sorted(set(sentences))[first - 1 :: step]
    if lease_gpus(gpus):
        require_cuda()
    graphs = parse_all(sentences, load_parser(parser, models, threads, models_dir=models_dir), cache)
    write_records(out, graphs)
    failed = [graph for graph in graphs if graph.penman is None]
    typer.echo(f"{len(graphs)} sentences parsed with {parser}, {len(failed)} without a graph")


def smatch(
    left: Path = typer.Argument(..., metavar="A.amr", help="The graphs that are judged."),
    right: Path = typer.Argument(..., metavar="B.amr", help="The reference graphs, in the same order."),
    subscores: bool = typer.Option(False, "--subscores", help="Also all sub-scores."),
    explain: bool = typer.Option(False, "--explain", help="Also the alignment and the triples of each pair."),
    time_limit: float | None = typer.Option(
        None, min=0.1, help="Stop a pair after so many seconds; what it then gives depends on the machine."
    ),
) -> None:
    """Score the graphs of two files pair by pair, and as a corpus."""
    from importlib import metadata

    from faithfuse.amr.explain import explain as explain_pair
    from faithfuse.amr.files import read_amr_file
    from faithfuse.amr.smatch import EXTENSIONS, SUBSCORES, Match, total
    from faithfuse.errors import InputError

    pairs = (read_amr_file(left), read_amr_file(right))
    if len(pairs[0]) != len(pairs[1]):
        raise InputError(
            f"has {len(pairs[0])} graphs, {right} has {len(pairs[1])}",
            path=left,
            fix="Both files need the same graphs in the same order.",
        )
    if not pairs[0]:
        raise InputError("holds no graph", path=left, fix="Separate graphs in PENMAN notation by blank lines.")
    names = [*SUBSCORES, *EXTENSIONS] if subscores else ["SMATCH"]
    functions = {**SUBSCORES, **EXTENSIONS}
    takes_time = {"SMATCH", "Unlabeled F1", "No WSD F1"}
    found: dict[str, list[Match]] = {name: [] for name in names}
    typer.echo("pair\tid\tscore\tprecision\trecall\tf1\tmatched\tleft\tright\tbound")
    for number, (a, b) in enumerate(zip(*pairs, strict=True), start=1):
        identifier = a.metadata.get("id") or b.metadata.get("id") or "-"
        for name in names:
            options = {"time_limit": time_limit} if name in takes_time else {}
            match = functions[name](a.graph, b.graph, **options)
            if match is None:
                typer.echo(f"{number}\t{identifier}\t{name}\t\t\t\t\t\t\t")
                continue
            found[name].append(match)
            typer.echo(f"{number}\t{identifier}\t{name}\t{_row(match)}")
        if explain:
            _explain(explain_pair(a.graph, b.graph))
    for name in names:
        if found[name]:
            typer.echo(f"corpus\t{len(found[name])} pairs\t{name}\t{_row(total(found[name]))}")
    unproven = sum(not match.proven for matches in found.values() for match in matches)
    scipy = metadata.version("scipy")
    typer.echo(f"# smatch 1.0.4 triples, repeated ones once; optimal alignment (SciPy {scipy}), {unproven} not proven")


def _row(match) -> str:
    ratios = "\t".join(f"{value:.4f}" for value in (match.precision, match.recall, match.f1))
    return f"{ratios}\t{match.matched}\t{match.left_total}\t{match.right_total}\t{match.bound}"


def _explain(parts) -> None:
    for left, right in parts.aligned:
        typer.echo(f"  {left}  =  {right}")
    for label, triples in (
        ("alone, left", parts.unaligned_left),
        ("alone, right", parts.unaligned_right),
        ("match", parts.matched),
        ("miss", parts.missing),
        ("extra", parts.extra),
    ):
        for triple in triples:
            typer.echo(f"  {label}: {triple}")


def draw(
    graph: str = typer.Argument(None, help="A graph in PENMAN notation."),
    file: Path | None = typer.Option(None, help="Draw a graph of this file instead."),
    number: int = typer.Option(1, min=1, help="Which graph of the file."),
    sentence: str | None = typer.Option(None, help="Parse this sentence and draw its graph."),
    parser: str = typer.Option("rules", help="The sentence's parser: `rules`, or a parser of the model registry."),
    models: Path = typer.Option(Path("config/models.yaml"), help="The model registry."),
    models_dir: Path = typer.Option(Path(".models"), help="Where fetched models are."),
    title: str | None = typer.Option(None, help="What to write above the graph."),
    out: Path = typer.Option(..., help="The picture (SVG)."),
) -> None:
    """Draw an AMR graph: of a text, a file, or a sentence."""
    from faithfuse.amr.draw import draw as draw_graph
    from faithfuse.amr.files import read_amr_file
    from faithfuse.errors import InputError
    from faithfuse.records import atomic_write

    if sum(source is not None for source in (graph, file, sentence)) != 1:
        raise InputError("there is not exactly one graph to draw", fix="Give a graph, --file or --sentence.")
    note = ""
    if file is not None:
        entries = read_amr_file(file)
        if number > len(entries):
            raise InputError(f"has {len(entries)} graphs, not {number}", path=file, fix="Give a smaller --number.")
        graph = entries[number - 1].graph
        title = title if title is not None else entries[number - 1].metadata.get("snt", "")
    elif sentence is not None:
        from faithfuse.amr.parse import load_parser

        loaded = load_parser(parser, models, 1, models_dir=models_dir)
        graph, reason = loaded.parse([sentence])[0]
        title = title if title is not None else sentence
        note = f"parsed by {parser}"
        if graph is None:
            raise InputError(f"{reason}: {sentence!r}", fix="Give a sentence with words in it.")
    picture = draw_graph(graph, title or "", note)
    with atomic_write(out) as stream:
        stream.write(picture)
    typer.echo(f"wrote {out}")
