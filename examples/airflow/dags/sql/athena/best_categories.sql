SELECT
    catgroup,
    catname,
    sum(tickets) AS tickets,
    sum(revenue) AS revenue
FROM lakehouse.sales_by_category
GROUP BY catgroup, catname
ORDER BY revenue DESC
LIMIT 10
