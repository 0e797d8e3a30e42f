UNLOAD ('
SELECT
    d.caldate,
    c.catgroup,
    c.catname,
    CAST(sum(s.qtysold) AS BIGINT) AS tickets,
    CAST(sum(s.pricepaid) AS DECIMAL(18, 2)) AS revenue,
    d."year" AS sale_year
FROM sale AS s
INNER JOIN "date" AS d ON s.dateid = d.dateid
INNER JOIN event AS e ON s.eventid = e.eventid
INNER JOIN category AS c ON e.catid = c.catid
GROUP BY d.caldate, c.catgroup, c.catname, d."year"
')
TO 's3://{{ var.json.lakehouse.bucket }}/{{ params.folder }}'
IAM_ROLE '{{ var.json.lakehouse.role }}'
FORMAT AS PARQUET
PARTITION BY (sale_year)
