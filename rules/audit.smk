# Audit: the conformance suite of the source-risk audit (exhaustive and synthetic: no data, no model, no network).
#   in:  the checker's and the suite's code, the paper's counts, the published contract
#   out: results/audit/<experiment>.csv and counts.csv, ours beside the paper's


rule audit_suite:
    input:
        reference="config/reference/audit_counts.csv",
        contract="config/audit/record.schema.json",
        codes="config/audit/reason_codes.json",
        code=code("audit.commands:suite_command"),
    output:
        update(expand("results/audit/{name}.csv", name=AUDIT_NAMES)),
    log:
        "results/logs/audit_suite.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    message:
        "Running the conformance suite of the source-risk audit"
    shell:
        "python -m faithfuse audit suite --out results/audit --reference {input.reference} 2>&1 | tee {log}"
