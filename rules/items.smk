# Items: gather one domain and check items, responses and ratings against each other.
#   in:  the configured data folders
#   out: results/items/<domain>/{items,responses,ratings}.jsonl


rule items:
    input:
        data=expand("{folder}/{name}", folder=DATA_FOLDERS, name=STUDY_FILES),
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
        folders=DATA_FOLDERS,
        limit=f"--limit {RUN.limit}" if RUN.limit else "",
        seed=RUN.seed,
        out=subpath(output.item_records, parent=True),
    message:
        "Checking items of {wildcards.domain}"
    shell:
        "python -m faithfuse items {params.folders:q} --domain {wildcards.domain} {params.limit}"
        " --seed {params.seed} --out {params.out} 2>&1 | tee {log}"
