INSERT INTO "{{ params.table }}"
SELECT "{{ params.columns | join('", "') }}"
FROM changes
WHERE deleted = 'false'
