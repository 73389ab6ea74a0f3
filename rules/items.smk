# Items: gather one domain, or one further set, and check items, responses and ratings against each other.
#   in:  the configured data folders
#   out: results/items/<domain>/{items,responses,ratings}.jsonl


rule items:
    input:
        data=lambda wildcards: expand(
            "{folder}/{name}", folder=study_folders(wildcards.domain), name=STUDY_FILES
        ),
        code=code("datasets.items"),
    output:
        item_records=update("results/items/{domain}/items.jsonl"),
        responses=update("results/items/{domain}/responses.jsonl"),
        ratings=update("results/items/{domain}/ratings.jsonl"),
    log:
        "results/logs/items/{domain}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        folders=lambda wildcards: study_folders(wildcards.domain),
        domain=lambda wildcards: domain_of(wildcards.domain),
        limit=lambda wildcards: study_limit(wildcards.domain),
        seed=RUN.seed,
        out=subpath(output.item_records, parent=True),
    message:
        "Checking items of {wildcards.domain}"
    shell:
        "python -m faithfuse items {params.folders:q} --domain {params.domain} {params.limit}"
        " --seed {params.seed} --out {params.out} 2>&1 | tee {log}"
