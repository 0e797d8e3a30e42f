CREATE EXTERNAL TABLE IF NOT EXISTS lakehouse.sales_by_category (
    caldate DATE,
    catgroup STRING,
    catname STRING,
    tickets BIGINT,
    revenue DECIMAL(18, 2)
)
PARTITIONED BY (sale_year INT)
STORED AS PARQUET
LOCATION 's3://{{ var.json.lakehouse.bucket }}/{{ params.folder }}'
