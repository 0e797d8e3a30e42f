CREATE TABLE IF NOT EXISTS "user" (
    userid INTEGER NOT NULL,
    username VARCHAR(32),
    firstname VARCHAR(120),
    lastname VARCHAR(120),
    city VARCHAR(120),
    state VARCHAR(8),
    email VARCHAR(400),
    phone VARCHAR(56),
    PRIMARY KEY (userid)
) DISTKEY (userid)
