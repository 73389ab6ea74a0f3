# Fuse: an Explainable Boosting Machine per domain on blind splits, its scores of every response, how far it can be
# trusted, and how it does on other domains and sets.
#   in:  metric table, ratings
#   out: results/fusion/<domain>/, results/scores/<domain>.csv, results/validation/<domain>/, results/transfer/<domain>.csv


rule fuse:
    input:
        metrics="results/metrics/{domain}.csv",
        meta="results/metrics/{domain}.csv.meta.json",
        ratings="results/items/{domain}/ratings.jsonl",
        code=code("analysis.commands:fuse"),
    output:
        model=update("results/fusion/{domain}/model.json"),
        card=update("results/fusion/{domain}/card.md"),
        importances=update("results/fusion/{domain}/importances.csv"),
        evaluation=update("results/fusion/{domain}/evaluation.csv"),
        splits=update("results/fusion/{domain}/splits.csv"),
        blind=update("results/fusion/{domain}/blind.csv"),
        explanations=update("results/fusion/{domain}/explanations.csv"),
    log:
        "results/logs/fuse/{domain}.log",
    benchmark:
        "results/benchmarks/rules/fuse_{domain}.tsv"
    conda:
        "../envs/faithfuse.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    params:
        seeds=RUN.fusion.seeds,
        blind_fraction=RUN.fusion.blind_fraction,
        seed=RUN.fusion.seed,
        interactions=RUN.fusion.interactions,
        note=RUN.note,
        out=subpath(output.model, parent=True),
    message:
        "Fusing the metrics of {wildcards.domain}"
    shell:
        "python -m faithfuse fuse {input.metrics} {input.ratings} --seeds {params.seeds}"
        " --blind-fraction {params.blind_fraction} --seed {params.seed}"
        " --interactions {params.interactions} --threads {threads}"
        " --note={params.note:q} --out {params.out} 2>&1 | tee {log}"


rule score:
    input:
        metrics="results/metrics/{domain}.csv",
        meta="results/metrics/{domain}.csv.meta.json",
        model="results/fusion/{domain}/model.json",
        code=code("analysis.commands:score"),
    output:
        scores=update("results/scores/{domain}.csv"),
    log:
        "results/logs/score/{domain}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        model=subpath(input.model, parent=True),
    message:
        "Scoring {wildcards.domain} with the fused metric"
    shell:
        "python -m faithfuse score {input.metrics} --model {params.model} --out {output.scores} 2>&1 | tee {log}"


rule validate:
    input:
        metrics="results/metrics/{domain}.csv",
        meta="results/metrics/{domain}.csv.meta.json",
        ratings="results/items/{domain}/ratings.jsonl",
        code=code("analysis.commands:validate"),
    output:
        validation=update("results/validation/{domain}/validation.csv"),
        curve=optional(
            RUN.fusion.curve_seeds,
            update("results/validation/{domain}/learning_curve.csv"),
        ),
    log:
        "results/logs/validate/{domain}.log",
    benchmark:
        "results/benchmarks/rules/validate_{domain}.tsv"
    conda:
        "../envs/faithfuse.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    params:
        repeats=RUN.fusion.repeats,
        folds=RUN.fusion.folds,
        curve_seeds=RUN.fusion.curve_seeds,
        seed=RUN.fusion.seed,
        interactions=RUN.fusion.interactions,
        out=subpath(output.validation, parent=True),
    message:
        "Asking how far the fused metric of {wildcards.domain} can be trusted"
    shell:
        "python -m faithfuse validate {input.metrics} {input.ratings} --repeats {params.repeats}"
        " --folds {params.folds} --curve-seeds {params.curve_seeds} --seed {params.seed}"
        " --interactions {params.interactions} --threads {threads} --out {params.out} 2>&1 | tee {log}"


rule transfer:
    input:
        metrics="results/metrics/{domain}.csv",
        meta="results/metrics/{domain}.csv.meta.json",
        ratings="results/items/{domain}/ratings.jsonl",
        models=other_models,
        code=code("analysis.commands:transfer"),
    output:
        transfer=update("results/transfer/{domain}.csv"),
    log:
        "results/logs/transfer/{domain}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        models=lambda wildcards, input: repeated("--model", input.models),
    message:
        "Testing fused metrics of other domains on {wildcards.domain}"
    shell:
        "python -m faithfuse transfer {input.metrics} {input.ratings} {params.models}"
        " --domain {wildcards.domain} --out {output.transfer} 2>&1 | tee {log}"
