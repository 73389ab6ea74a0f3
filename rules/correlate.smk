# Correlate: every metric against human Likert and Bool, and how far the raters agree.
#   in:  metric table, ratings
#   out: results/correlations/<domain>.csv, results/validation/<domain>/agreement.csv


rule correlate:
    input:
        metrics="results/metrics/{domain}.csv",
        meta="results/metrics/{domain}.csv.meta.json",
        points="results/metrics/{domain}.csv.points.csv",
        ratings="results/items/{domain}/ratings.jsonl",
        code=code("analysis.commands:correlate"),
    output:
        correlations=update("results/correlations/{domain}.csv"),
    log:
        "results/logs/correlate/{domain}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    params:
        interval=RUN.correlation.interval,
        resamples=RUN.correlation.resamples,
        seed=RUN.correlation.seed,
    message:
        "Correlating {wildcards.domain} with people"
    shell:
        "python -m faithfuse correlate {input.metrics} {input.ratings} --domain {wildcards.domain} --interval {params.interval}"
        " --resamples {params.resamples} --seed {params.seed} --out {output.correlations} 2>&1 | tee {log}"


rule agreement:
    input:
        ratings="results/items/{domain}/ratings.jsonl",
        code=code("analysis.commands:agreement"),
    output:
        agreement=update("results/validation/{domain}/agreement.csv"),
    log:
        "results/logs/agreement/{domain}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        resamples=RUN.correlation.resamples,
        seed=RUN.correlation.seed,
    message:
        "Asking how far the raters of {wildcards.domain} agree"
    shell:
        "python -m faithfuse agreement {input.ratings} --resamples {params.resamples} --seed {params.seed}"
        " --out {output.agreement} 2>&1 | tee {log}"
