CREATE TABLE IF NOT EXISTS venue (
    venueid INTEGER NOT NULL,
    venuename VARCHAR(400),
    venuecity VARCHAR(120),
    venuestate VARCHAR(8),
    venueseats INTEGER,
    PRIMARY KEY (venueid)
) DISTSTYLE ALL
