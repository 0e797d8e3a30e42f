CREATE TEMPORARY TABLE changes (LIKE "{{ params.table }}")
