CREATE TABLE IF NOT EXISTS sale (
    salesid INTEGER NOT NULL,
    listid INTEGER,
    sellerid INTEGER,
    buyerid INTEGER,
    eventid INTEGER,
    dateid INTEGER,
    qtysold INTEGER,
    pricepaid DECIMAL(8, 2),
    commission DECIMAL(8, 2),
    saletime TIMESTAMP,
    PRIMARY KEY (salesid)
) DISTKEY (eventid) SORTKEY (dateid)
