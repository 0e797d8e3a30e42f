DELETE FROM "{{ params.table }}"
