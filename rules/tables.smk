# Tables: I-V of arXiv 2512.05700 beside the published values.
#   in:  correlations, fusion, the metric tables' meta files (graph scores not proven), config/reference/paper_tables.csv
#   out: results/tables/table_1.csv … table_5.csv


rule make_tables:
    input:
        correlations=CORRELATIONS + FURTHER_CORRELATIONS,
        fusion=FUSION_EVALUATIONS,
        reference="config/reference/paper_tables.csv",
        meta=[f"{path}.meta.json" for path in METRICS],
        code=code("analysis.commands:tables"),
    output:
        tables=captioned("Tables", TABLES),
    log:
        "results/logs/tables.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        correlations=repeated("--correlations", CORRELATIONS + FURTHER_CORRELATIONS),
        fusion=repeated("--fusion", FUSION_FOLDERS),
        meta=repeated("--meta", [f"{path}.meta.json" for path in METRICS]),
        note=RUN.note,
    message:
        "Writing Tables I-V"
    shell:
        "python -m faithfuse tables {params.correlations} {params.fusion} {params.meta}"
        " --reference {input.reference} --note={params.note:q} --out results/tables 2>&1 | tee {log}"
