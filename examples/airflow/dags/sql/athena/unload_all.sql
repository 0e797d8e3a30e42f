UNLOAD (
    SELECT "{{ params.columns | join('", "') }}"
    FROM "{{ var.json.lakehouse.source }}"."{{ params.table }}"
    WHERE __deleted = 'false'
)
TO 's3://{{ var.json.lakehouse.bucket }}/{{ params.folder }}'
WITH (format = 'PARQUET')
