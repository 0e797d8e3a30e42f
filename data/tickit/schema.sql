-- A seller of tickets: three applications in one database, each with a schema of its own.
CREATE SCHEMA IF NOT EXISTS ems;
CREATE SCHEMA IF NOT EXISTS ecomm;
CREATE SCHEMA IF NOT EXISTS crm;

CREATE TABLE IF NOT EXISTS ems.category (
    catid    smallint PRIMARY KEY,
    catgroup varchar(10),
    catname  varchar(10),
    catdesc  varchar(50)
);

CREATE TABLE IF NOT EXISTS ems.venue (
    venueid    smallint PRIMARY KEY,
    venuename  varchar(100),
    venuecity  varchar(30),
    venuestate char(2),
    venueseats integer
);

CREATE TABLE IF NOT EXISTS ecomm.date (
    dateid  smallint PRIMARY KEY,
    caldate date NOT NULL,
    day     char(3) NOT NULL,
    week    smallint NOT NULL,
    month   char(3) NOT NULL,
    qtr     smallint NOT NULL,
    year    smallint NOT NULL,
    holiday boolean DEFAULT false
);

CREATE TABLE IF NOT EXISTS ems.event (
    eventid   integer PRIMARY KEY,
    venueid   smallint NOT NULL,
    catid     smallint NOT NULL,
    dateid    smallint NOT NULL,
    eventname varchar(200),
    starttime timestamp
);

CREATE TABLE IF NOT EXISTS crm.user (
    userid        integer PRIMARY KEY,
    username      char(8),
    firstname     varchar(30),
    lastname      varchar(30),
    city          varchar(30),
    state         char(2),
    email         varchar(100),
    phone         char(14),
    likesports    boolean,
    liketheatre   boolean,
    likeconcerts  boolean,
    likejazz      boolean,
    likeclassical boolean,
    likeopera     boolean,
    likerock      boolean,
    likevegas     boolean,
    likebroadway  boolean,
    likemusicals  boolean
);

CREATE TABLE IF NOT EXISTS ecomm.listing (
    listid         integer PRIMARY KEY,
    sellerid       integer NOT NULL,
    eventid        integer NOT NULL,
    dateid         smallint NOT NULL,
    numtickets     smallint NOT NULL,
    priceperticket numeric(8, 2),
    totalprice     numeric(8, 2),
    listtime       timestamp
);

CREATE TABLE IF NOT EXISTS ecomm.sale (
    salesid    integer PRIMARY KEY,
    listid     integer NOT NULL,
    sellerid   integer NOT NULL,
    buyerid    integer NOT NULL,
    eventid    integer NOT NULL,
    dateid     smallint NOT NULL,
    qtysold    smallint NOT NULL,
    pricepaid  numeric(8, 2),
    commission numeric(8, 2),
    saletime   timestamp
);
