CREATE TABLE IF NOT EXISTS listing (
    listid INTEGER NOT NULL,
    sellerid INTEGER,
    eventid INTEGER,
    dateid INTEGER,
    numtickets INTEGER,
    priceperticket DECIMAL(8, 2),
    totalprice DECIMAL(8, 2),
    listtime TIMESTAMP,
    PRIMARY KEY (listid)
) DISTKEY (eventid) SORTKEY (dateid)
