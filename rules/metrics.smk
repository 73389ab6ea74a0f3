# Metrics: one table per domain, one column per metric.
#   in:  items, responses, verdicts, likelihoods, graphs, the encoder of BERTScore
#   out: results/metrics/<domain>.csv with .meta.json, .unscored.csv and, per point of a summary, .points.csv beside it


rule metrics:
    input:
        item_records="results/items/{domain}/items.jsonl",
        responses=response_files,
        judge=judge_files,
        graphs="results/graphs/{domain}.jsonl",
        encoder=f"{model_dir(RUN.embedding.model)}/fetched.json",
        code=code("metrics.commands:metrics"),
    output:
        metrics=update("results/metrics/{domain}.csv"),
        meta=update("results/metrics/{domain}.csv.meta.json"),
        unscored=update("results/metrics/{domain}.csv.unscored.csv"),
        points=update("results/metrics/{domain}.csv.points.csv"),
    log:
        "results/logs/metrics/{domain}.log",
    benchmark:
        "results/benchmarks/rules/metrics_{domain}.tsv"
    conda:
        "../envs/faithfuse.yaml"
    threads: 1
    resources:
        mem_mb=grows(memory(RUN.embedding.model)),
        runtime=grows(120),
        gpu=gpus(RUN.embedding.model),
    params:
        gpus=gpus(RUN.embedding.model),
        judge=lambda wildcards: judge_options(wildcards.domain),
        encoder=subpath(input.encoder, parent=True),
        layers=RUN.embedding.layers,
    message:
        "Scoring {wildcards.domain}"
    shell:
        "python -m faithfuse metrics {input.item_records} {input.responses} {params.judge}"
        " --graphs {input.graphs} --bertscore-model {params.encoder}"
        " --bertscore-layers {params.layers} --threads {threads} --gpus {params.gpus} --out {output.metrics} 2>&1 | tee {log}"
