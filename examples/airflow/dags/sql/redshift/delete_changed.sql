DELETE FROM "{{ params.table }}"
USING changes
WHERE "{{ params.table }}".{{ params.columns[0] }} = changes.{{ params.columns[0] }}
