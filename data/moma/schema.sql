-- Column order is that of the files. Lengths leave room for changes made in examples and tests.
CREATE TABLE IF NOT EXISTS public.artists (
    artist_id   integer PRIMARY KEY,
    name        varchar(250),
    nationality varchar(60),
    gender      varchar(60),
    birth_year  integer,
    death_year  integer
);

CREATE TABLE IF NOT EXISTS public.artworks (
    artwork_id       integer PRIMARY KEY,
    title            text,
    artist_id        integer,
    name             varchar(250),
    date             text,  -- a year where it is known
    medium           text,
    dimensions       text,
    acquisition_date text,  -- ISO date where it is known
    credit           text,
    catalogue        varchar(60),
    department       varchar(60),
    classification   varchar(60),
    object_number    varchar(60),
    diameter_cm      numeric(20, 10),
    circumference_cm numeric(20, 10),
    height_cm        numeric(20, 10),
    length_cm        numeric(20, 10),
    width_cm         numeric(20, 10),
    depth_cm         numeric(20, 10),
    weight_kg        numeric(20, 10),
    durations        integer  -- seconds
);

CREATE TABLE IF NOT EXISTS public.departments (
    department varchar(60) PRIMARY KEY,
    works      integer  -- in the file of artworks
);
