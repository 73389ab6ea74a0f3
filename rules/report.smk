# Report: figures, the notebook, the HTML report, and what says that a run is this run.
#   in:  tables, correlations, fusion, audit; for the manifest, whatever the run read and gave
#   out: results/figures/*.svg, results/notebooks/*.ipynb, results/report.html, results/run.json, results/run_id.txt,
#        results/manifest.json, results/manifest.sha256
# The run id is over inputs, code and everything that two runs reproduce byte for byte, except the report, which shows it.


include: "report_inputs.smk"


rule describe_run:
    input:
        lock="envs/lock.txt",
        code=code("provenance.run", "provenance.commands"),
    output:
        description=update("results/run.json"),
    log:
        "results/logs/describe_run.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(500),
        runtime=grows(5),
    params:
        registry="config/models.yaml",
        entries=lambda wildcards: [entry(key) for key in RUN_MODELS],
        configuration=lambda wildcards: RUN.model_dump_json(),
    message:
        "Describing the run"
    shell:
        "python -m faithfuse manifest describe --configuration {params.configuration:q} --models {params.registry}"
        " --lock {input.lock} --out {output.description} 2>&1 | tee {log}"


rule make_figures:
    input:
        correlations=CORRELATIONS,
        fusion=FUSION_EVALUATIONS,
        importances=expand("results/fusion/{domain}/importances.csv", domain=DOMAINS),
        audit=AUDIT_RESULTS,
        reference="config/reference/paper_tables.csv",
        code=code("report.figures", "report.commands"),
    output:
        figures=captioned("Figures", FIGURES),
    log:
        "results/logs/figures.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        correlations=repeated("--correlations", CORRELATIONS),
        fusion=repeated("--fusion", FUSION_FOLDERS),
        audit=optional(RUN.audit, "--audit results/audit"),
    message:
        "Drawing figures"
    shell:
        "python -m faithfuse figures {params.correlations} {params.fusion} {params.audit}"
        " --reference {input.reference} --out results/figures 2>&1 | tee {log}"


rule run_notebook:
    input:
        notebook="notebooks/disagreement.ipynb",
        study=expand("results/items/{domain}/{name}", domain=DOMAINS, name=STUDY_FILES),
        metrics=METRICS,
        correlations=CORRELATIONS,
        blind=expand("results/fusion/{domain}/blind.csv", domain=DOMAINS),
        description="results/run.json",
        code=code(
            "report.notebook",
            "report.inputs",
            "analysis.ratings",
            "analysis.correlation",
        ),
    output:
        notebook=captioned("Notebook", [NOTEBOOK]),
    log:
        "results/logs/notebook.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(20),
    message:
        "Running the notebook"
    shell:
        "python -m faithfuse notebook {input.notebook} --results results --out {output.notebook} 2>&1 | tee {log}"


rule make_report:
    input:
        tables=TABLES,
        figures=FIGURES,
        correlations=CORRELATIONS,
        fusion=FUSION_EVALUATIONS,
        audit=AUDIT_RESULTS,
        meta=[f"{path}.meta.json" for path in METRICS],
        responses=GENERATED,
        splits=expand("results/fusion/{domain}/splits.csv", domain=DOMAINS),
        validation=VALIDATIONS,
        transfer=TRANSFERS,
        description="results/run.json",
        identity=IDENTITY,
        code=code("report.html", "report.commands"),
        templates=directory_files("workflow/faithfuse/report/templates"),
    output:
        report=captioned("Report", [REPORT]),
    log:
        "results/logs/report.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        correlations=repeated("--correlations", CORRELATIONS),
        fusion=repeated("--fusion", FUSION_FOLDERS),
        meta=repeated("--meta", [f"{path}.meta.json" for path in METRICS]),
        responses=repeated("--responses", GENERATED),
        validation=repeated(
            "--validation", expand("results/validation/{domain}", domain=DOMAINS)
        ),
        transfer=repeated("--transfer", TRANSFERS),
        audit=optional(RUN.audit, "--audit results/audit"),
    message:
        "Writing the report"
    shell:
        "python -m faithfuse report --tables results/tables --figures results/figures {params.correlations}"
        " {params.fusion} {params.audit} {params.meta} {params.responses} {params.validation} {params.transfer}"
        " --run {input.description}"
        " --identity {input.identity} --out {output.report} 2>&1 | tee {log}"


rule identify_run:
    input:
        results=REPRODUCED,
        description="results/run.json",
        inputs=[files for _, files in RUN_INPUTS.values()],
        models=[f"{model_dir(key)}/fetched.json" for key in RUN_MODELS],
        code=run_code(),
        own=code("provenance.record", "provenance.commands"),
    output:
        identity=update(IDENTITY),
    log:
        "results/logs/identify_run.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(500),
        runtime=grows(30),
    params:
        inputs=lambda wildcards: pairs(
            "--input", {name: path for name, (path, _) in RUN_INPUTS.items()}
        ),
        models=pairs("--model", RUN_MODELS),
        code=lambda wildcards, input: repeated("--code", input.code),
    message:
        "Taking the run's id"
    shell:
        "python -m faithfuse manifest identify {input.results} --run {input.description} {params.inputs}"
        " {params.models} {params.code} --out {output.identity} 2>&1 | tee {log}"


rule record_run:
    input:
        results=REPRODUCED,
        outside=OUTSIDE,
        description="results/run.json",
        identity=IDENTITY,
        code=run_code(),
        own=code("provenance.record", "provenance.host", "provenance.commands"),
    output:
        record=update(RECORD),
    log:
        "results/logs/record_run.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(500),
        runtime=grows(30),
    params:
        inputs=lambda wildcards: pairs(
            "--input", {name: path for name, (path, _) in RUN_INPUTS.items()}
        ),
        models=pairs("--model", RUN_MODELS),
        code=lambda wildcards, input: repeated("--code", input.code),
        outside=repeated("--outside", OUTSIDE),
    message:
        "Writing what the run was"
    shell:
        "python -m faithfuse manifest record {input.results} --run {input.description} {params.inputs}"
        " {params.models} {params.code} {params.outside} --identity {input.identity}"
        " --out {output.record} 2>&1 | tee {log}"


rule write_manifest:
    input:
        results=MANIFEST_FILES,
        identity=IDENTITY,
        record=RECORD,
        code=code("provenance.manifest", "provenance.commands"),
    output:
        manifest=captioned("Manifest", [MANIFEST]),
    log:
        "results/logs/manifest.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(500),
        runtime=grows(5),
    message:
        "Writing the manifest"
    shell:
        "python -m faithfuse manifest write {input.results} {input.identity} --out {output.manifest} 2>&1 | tee {log}"
