# Source-risk audit (arXiv 2609.29145).
# in:    the checker's and the suite's modules, the paper's counts, the contract under config/audit
# steps: run the conformance suite (exhaustive and synthetic: no data, no model, no network)
# out:   one CSV per experiment and counts.csv, ours beside the paper's, under results/audit


AUDIT_TABLES = [
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
AUDIT_MODULES = [
    "accept",
    "canonical",
    "check",
    "codes",
    "commands",
    "diagnose",
    "endpoint",
    "gate",
    "priority",
    "record",
    "result",
    "structure",
    "suite/baselines",
    "suite/cases",
    "suite/extended",
    "suite/fixtures",
    "suite/mutations",
    "suite/oracle",
    "suite/run",
]


rule audit_suite:
    input:
        modules=expand("workflow/faithfuse/audit/{module}.py", module=AUDIT_MODULES),
        reference="config/reference/audit_counts.csv",
        schema="config/audit/record.schema.json",
        codes="config/audit/reason_codes.json",
    output:
        expand("results/audit/{table}.csv", table=AUDIT_TABLES),
    log:
        "results/logs/audit_suite.log",
    resources:
        mem_mb=500,
        runtime=10,
    shell:
        "python -m faithfuse audit suite --out results/audit --reference {input.reference} > {log} 2>&1"
