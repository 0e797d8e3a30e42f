CREATE TABLE IF NOT EXISTS event (
    eventid INTEGER NOT NULL,
    venueid INTEGER,
    catid INTEGER,
    dateid INTEGER,
    eventname VARCHAR(800),
    starttime TIMESTAMP,
    PRIMARY KEY (eventid)
) DISTKEY (eventid) SORTKEY (dateid)
