CREATE TABLE IF NOT EXISTS "date" (
    dateid INTEGER NOT NULL,
    caldate DATE,
    "day" VARCHAR(3),
    week INTEGER,
    "month" VARCHAR(3),
    qtr INTEGER,
    "year" INTEGER,
    holiday BOOLEAN,
    PRIMARY KEY (dateid)
) DISTSTYLE ALL
