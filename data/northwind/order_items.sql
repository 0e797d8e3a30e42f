-- lake refine data/northwind/order_items.sql: one row for each item of an order, with its revenue.
SELECT order_id, customer_id, item.product_id, item.discount, item.quantity, item.unit_price,
    item.unit_price * item.quantity * (1 - item.discount) AS revenue
FROM (
    SELECT order_id, customer_id, explode(from_json(
        order_items,
        'array<struct<discount: decimal(4,2), quantity: int, unit_price: decimal(8,2), product_id: int>>'
    )) AS item
    FROM datalake.cdc_events
    WHERE __deleted = 'false'
)
