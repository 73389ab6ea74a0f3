# faithfuse: from raw data to every table of arXiv 2512.05700 and arXiv 2609.29145.
#
#   snakemake --cores 2                                        the bundled sample
#   snakemake --cores 2 --configfile config/replication.yaml   public human judgements
#   snakemake --cores all --configfile config/paper.yaml       the paper's study, on a GPU
#
# This file only wires; what a stage does is in workflow/faithfuse, how it is called in rules/.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "rules/common.smk"
include: "rules/models.smk"
include: "rules/datasets.smk"
include: "rules/items.smk"
include: "rules/respond.smk"
include: "rules/judge.smk"
include: "rules/parse.smk"


if RUN.shards > 1:

    include: "rules/gather.smk"


include: "rules/drawings.smk"
include: "rules/metrics.smk"
include: "rules/correlate.smk"
include: "rules/fuse.smk"
include: "rules/tables.smk"
include: "rules/audit.smk"
include: "rules/report.smk"


# On a cluster these run where Snakemake does: they take seconds, or need the network.
localrules:
    all,
    responses,
    fusion,
    audit,
    tables,
    report,
    fetch_model,
    items,
    audit_suite,
    make_tables,
    describe_run,
    make_figures,
    run_notebook,
    make_report,
    identify_run,
    record_run,
    write_manifest,


rule all:
    default_target: True
    input:
        MANIFEST,
        REPORT,
    message:
        "Done. Open {REPORT}; tables are in results/tables and results/audit."


# Named targets


rule responses:
    input:
        GENERATED,


rule fusion:
    input:
        FUSION_EVALUATIONS,


rule audit:
    input:
        AUDIT_RESULTS,


rule tables:
    input:
        TABLES,


rule report:
    input:
        REPORT,
