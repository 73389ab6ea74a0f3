# Configuration, paths and the few functions that rules share. No rules here.
#
# Outputs are marked `update`: Snakemake then keeps the previous file while a job runs and puts it back when the job
# fails, so a mistake in the input never costs an earlier result.
import json
import os
import re
import sys
import yaml
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir, "workflow")))

from faithfuse.config import parse_config
from faithfuse.errors import FaithfuseError
from faithfuse.llm.lease import require_gpus
from faithfuse.llm.prompts import load_prompts
from faithfuse.provenance.modules import stage_modules
from faithfuse.provenance.running import clear_dead_lock

# An editable install does not survive Snakemake's copy of an environment, so jobs find the package here. Stages never
# reach for a hub; only the rule that fetches models may.
os.environ.update(
    PYTHONPATH=str(Path(workflow.basedir, "workflow")),
    PYTHONHASHSEED="0",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    TOKENIZERS_PARALLELISM="false",
)

try:
    RUN = parse_config(config, "the configuration")
    # A parameter of the LLM stages, which a remark in these files or another set's wording does not run again.
    PROMPTS_DIGEST = load_prompts("config/prompts", RUN.llm.prompt_set).digest
except FaithfuseError as error:
    sys.exit(f"faithfuse: error: {error}")

if workflow.is_main_process and clear_dead_lock():
    print("The lock of a run that died was removed.", file=sys.stderr)

DOMAINS = [str(domain) for domain in RUN.domains]
# A further set goes through the same stages up to its correlations, under the name <domain>.<set>.
FURTHER = RUN.studies()
STUDIES = [*DOMAINS, *FURTHER]


wildcard_constraints:
    domain="|".join(map(re.escape, STUDIES)),
    share=r"\d+",


def code(*modules):
    """The source files a stage consists of, relative to the working folder where possible."""
    return [os.path.relpath(path) for path in stage_modules(*modules)]


def judged(study):
    """Whether the LLM judges a study: the configured domains (or all), and the further sets that ask for it."""
    if study in FURTHER:
        return FURTHER[study].judge
    return RUN.llm.judge is None or study in RUN.llm.judge


def domain_of(study):
    """The domain of a study: `<domain>`, or `<domain>.<set>`."""
    return study.partition(".")[0]


def model_dir(key):
    """The folder of a fetched model, marked complete by its `fetched.json`."""
    return f"{RUN.models_dir}/{key}"


def data_folder(source):
    """The folder with items, responses and ratings of a configured source."""
    return (
        source.folder() if source.set == "folder" else f"results/datasets/{source.set}"
    )


DATA_FOLDERS = [data_folder(source) for source in RUN.data]
STUDY_FILES = ["items.jsonl", "responses.jsonl", "ratings.jsonl"]


def optional(condition, value):
    """`value` when the run has that part, else nothing; for inputs and options a configuration may switch off."""
    return value if condition else []


def repeated(option, values):
    """An option given once for each value, as the command line wants it."""
    return [f"{option} {value}" for value in values]


def captioned(category, paths):
    """Outputs that `snakemake --report` shows, each with its caption from workflow/report."""
    marked = []
    for path in paths:
        caption = f"../workflow/report/{Path(path).stem}.rst"
        marked.append(report(update(path), caption=caption, category=category))
    return marked


def sharded(path):
    """Where one job of a sharded stage writes: the stage's own file, or with several shards a part of it."""
    if RUN.shards == 1:
        return path
    return path.replace("results/", "results/shards/").replace(
        "{domain}", "{domain}/{share}"
    )


def share_number(wildcards):
    """Which share a job of a sharded stage takes, as the command line wants it: K/N."""
    return f"{wildcards.get('share', 1)}/{RUN.shards}"


GENERATED = optional(
    RUN.llm.respond, expand("results/responses/{domain}.jsonl", domain=DOMAINS)
)
METRICS = expand("results/metrics/{domain}.csv", domain=DOMAINS)
FURTHER_METRICS = expand("results/metrics/{domain}.csv", domain=FURTHER)
CORRELATIONS = expand("results/correlations/{domain}.csv", domain=DOMAINS)
FURTHER_CORRELATIONS = expand("results/correlations/{domain}.csv", domain=FURTHER)
FUSION_EVALUATIONS = expand("results/fusion/{domain}/evaluation.csv", domain=DOMAINS)
FUSED_SCORES = expand("results/scores/{domain}.csv", domain=DOMAINS)
VALIDATION_NAMES = ["validation.csv", "agreement.csv"] + optional(
    RUN.fusion.curve_seeds, ["learning_curve.csv"]
)
VALIDATIONS = expand(
    "results/validation/{domain}/{name}", domain=DOMAINS, name=VALIDATION_NAMES
)
TRANSFERS = optional(
    len(STUDIES) > 1, expand("results/transfer/{domain}.csv", domain=STUDIES)
)
TABLES = expand("results/tables/table_{number}.csv", number=range(1, 6))
AUDIT_NAMES = [
    "states",
    "baselines",
    "ablations",
    "coverage",
    "transitions",
    "support",
    "mutations",
    "mutations_extended",
    "counts",
]
AUDIT_RESULTS = optional(
    RUN.audit, expand("results/audit/{name}.csv", name=AUDIT_NAMES)
)
FIGURES = expand(
    "results/figures/{name}.svg",
    name=["correlation", "importances", "fusion"]
    + optional(RUN.audit, ["audit_states"]),
)
PAPER_FIGURES = expand("results/figures/figure_{number}.svg", number=[1, 2, 3])
NOTEBOOK = "results/notebooks/disagreement.ipynb"
REPORT = "results/report.html"
MANIFEST = "results/manifest.sha256"
FUSION_FOLDERS = [os.path.dirname(path) for path in FUSION_EVALUATIONS]
# Everything that two runs reproduce byte for byte. What carries times or host facts (logs, benchmarks) stays out.
MANIFEST_FILES = [
    *expand("results/items/{domain}/{name}", domain=STUDIES, name=STUDY_FILES),
    *optional(
        RUN.llm.respond, expand("results/responses/{domain}.jsonl", domain=DOMAINS)
    ),
    *expand("results/verdicts/{domain}.jsonl", domain=filter(judged, STUDIES)),
    *expand("results/likelihood/{domain}.jsonl", domain=filter(judged, STUDIES)),
    *expand("results/graphs/{domain}.jsonl", domain=STUDIES),
    *METRICS,
    *FURTHER_METRICS,
    *[f"{path}.meta.json" for path in METRICS + FURTHER_METRICS],
    *[f"{path}.unscored.csv" for path in METRICS + FURTHER_METRICS],
    *[f"{path}.points.csv" for path in METRICS + FURTHER_METRICS],
    *CORRELATIONS,
    *FURTHER_CORRELATIONS,
    *FUSION_EVALUATIONS,
    *expand(
        "results/fusion/{domain}/{name}",
        domain=DOMAINS,
        name=[
            "model.json",
            "card.md",
            "importances.csv",
            "splits.csv",
            "blind.csv",
            "explanations.csv",
        ],
    ),
    *FUSED_SCORES,
    *VALIDATIONS,
    *TRANSFERS,
    *TABLES,
    *AUDIT_RESULTS,
    *FIGURES,
    *PAPER_FIGURES,
    NOTEBOOK,
    REPORT,
    "results/run.json",
]


def response_files(wildcards):
    """The recorded responses of a study, and those generated to a domain's items."""
    generated = RUN.llm.respond and wildcards.domain in DOMAINS
    return [f"results/items/{wildcards.domain}/responses.jsonl"] + optional(
        generated, [f"results/responses/{wildcards.domain}.jsonl"]
    )


def judge_files(wildcards):
    """What the LLM stages say of a study, where they run."""
    kinds = optional(judged(wildcards.domain), ["verdicts", "likelihood"])
    names = expand("results/{kind}/{domain}.jsonl", kind=kinds, domain=wildcards.domain)
    return names + [f"{name}.meta.json" for name in names]


def judge_options(study):
    """The same as options of the command."""
    verdicts, scores = (
        f"results/verdicts/{study}.jsonl",
        f"results/likelihood/{study}.jsonl",
    )
    return optional(judged(study), f"--verdicts {verdicts} --scores {scores}")


def study_folders(study):
    """The data folders that a study's items are gathered from."""
    if study in FURTHER:
        return [f"results/datasets/{FURTHER[study].set}"]
    return DATA_FOLDERS


def study_limit(study):
    """The option that draws a study's items as configured."""
    limit = FURTHER[study].limit if study in FURTHER else RUN.limit
    return f"--limit {limit}" if limit else ""


def other_models(wildcards):
    """The fused models of all domains but the study's own."""
    others = [domain for domain in DOMAINS if domain != wildcards.domain]
    return expand("results/fusion/{domain}/model.json", domain=others)


def directory_files(folder):
    """The files of a folder, sorted; an edit of any of them reruns what lists them."""
    return sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())


def grows(first):
    """What a job may use of a resource: `first`, and as much again with every further attempt."""
    return lambda wildcards, attempt: first * attempt


MODELS = yaml.safe_load(Path("config/models.yaml").read_text(encoding="utf-8"))


def entry(key):
    """What the registry says of a model but for its jobs' needs, as one line; a parameter of all that computes with it."""
    needs = ("gpus", "mem_mb")
    known = MODELS.get(key, {})
    return json.dumps({name: known[name] for name in sorted(set(known) - {*needs})})


def gpus(key):
    """How many GPUs a job with this model takes, by the registry; none for the parser `rules`."""
    return MODELS.get(key, {}).get("gpus", 0)


def memory(key):
    """Main memory (MB) of a job with this model, by the registry."""
    return MODELS.get(key, {}).get("mem_mb", 3000)


# Profiles for clusters that ask for GPUs as GRES take the numbers from here (workflow/profiles/slurm-gres).
os.environ.update(
    FAITHFUSE_LLM_GPUS=str(gpus(RUN.llm.model)),
    FAITHFUSE_PARSER_GPUS=str(gpus(RUN.parser)),
    FAITHFUSE_ENCODER_GPUS=str(gpus(RUN.embedding.model)),
)


onstart:
    # Before anything is downloaded. On a cluster the jobs' nodes have the GPUs, not the login node.
    if workflow.local_exec:
        wanted = [job.params.get("gpus", 0) for job in workflow.dag.needrun_jobs()]
        try:
            require_gpus(max(wanted, default=0))
        except FaithfuseError as error:
            sys.exit(f"faithfuse: error: {error}")
