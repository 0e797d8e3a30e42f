CREATE TABLE IF NOT EXISTS category (
    catid INTEGER NOT NULL,
    catgroup VARCHAR(10),
    catname VARCHAR(10),
    catdesc VARCHAR(50),
    PRIMARY KEY (catid)
) DISTSTYLE ALL
