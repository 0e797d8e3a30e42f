COPY changes
FROM 's3://{{ var.json.lakehouse.bucket }}/{{ params.folder }}'
IAM_ROLE '{{ var.json.lakehouse.role }}'
FORMAT AS PARQUET
