UNLOAD (
    SELECT "{{ params.columns | join('", "') }}", __deleted
    FROM "{{ var.json.lakehouse.source }}"."{{ params.table }}"
    WHERE _hoodie_commit_time >= '{{ (dag_run.run_after - macros.timedelta(days=params.days)).strftime("%Y%m%d%H%M%S") }}'
)
TO 's3://{{ var.json.lakehouse.bucket }}/{{ params.folder }}'
WITH (format = 'PARQUET')
