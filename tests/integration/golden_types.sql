-- Every PostgreSQL type of the type map with its edges: null, least, greatest, zero, special, empty, nested, unicode.
-- Column names are the keys of the type map; a row per edge; key 1 is all NULL.
CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'happy 🎉');
CREATE DOMAIN public.positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN public.price AS numeric(10, 2);
CREATE DOMAIN public.raw AS bytea;
CREATE DOMAIN public.short_text AS varchar(10);
CREATE EXTENSION vector SCHEMA public;

CREATE TABLE public.golden_types (
    id              integer PRIMARY KEY,
    boolean         boolean,
    smallint        smallint,
    "integer"       integer,
    bigint          bigint,
    oid             oid,
    real            real,
    double          double precision,
    numeric_12_2    numeric(12, 2),
    numeric_38_10   numeric(38, 10),
    numeric_5_neg2  numeric(5, -2),
    numeric_3_5     numeric(3, 5),
    numeric_50_5    numeric(50, 5),
    numeric_any     numeric,
    money           money,
    char_8          char(8),
    varchar_20      varchar(20),
    text            text,
    internal_char   "char",
    name            name,
    bytea           bytea,
    date            date,
    time_0          time(0),
    time_3          time(3),
    time_6          time,
    timetz          timetz,
    timestamp_0     timestamp(0),
    timestamp_3     timestamp(3),
    timestamp_6     timestamp,
    timestamptz     timestamptz,
    timestamptz_0   timestamptz(0),
    "interval"      interval,
    uuid            uuid,
    json            json,
    jsonb           jsonb,
    xml             xml, -- always NULL: the packaged server is built without libxml
    inet            inet,
    cidr            cidr,
    macaddr         macaddr,
    macaddr8        macaddr8,
    bit_1           bit(1),
    bit_10          bit(10),
    varbit          bit varying(70),
    mood            public.mood,
    positive        public.positive,
    short_text      public.short_text,
    int4range       int4range,
    int8range       int8range,
    numrange        numrange,
    tsrange         tsrange,
    tstzrange       tstzrange,
    daterange       daterange,
    point           point,
    tsvector        tsvector,
    pg_lsn          pg_lsn,
    boolean_array   boolean[],
    smallint_array  smallint[],
    integer_array   integer[],
    bigint_array    bigint[],
    real_array      real[],
    double_array    double precision[],
    numeric_array   numeric(12, 2)[],
    text_array      text[],
    varchar_array   varchar(20)[],
    uuid_array      uuid[],
    jsonb_array     jsonb[],
    date_array      date[],
    timestamp_array timestamp[],
    timestamptz_array timestamptz[],
    inet_array      inet[],
    enum_array      public.mood[],
    money_array     money[],
    time_array      time[],
    interval_array  interval[],
    varbit_array    bit varying[],
    lsn_array       pg_lsn[],
    multirange      int4multirange,
    jsonpath        jsonpath,
    price           public.price,
    raw             public.raw,
    xid             xid,
    xid8            xid8,
    txid_snapshot   txid_snapshot,
    pg_snapshot     pg_snapshot,
    tsquery         tsquery,
    int8multirange  int8multirange,
    nummultirange   nummultirange,
    tsmultirange    tsmultirange,
    tstzmultirange  tstzmultirange,
    datemultirange  datemultirange
);

INSERT INTO public.golden_types (id) VALUES (1);

INSERT INTO public.golden_types VALUES (2, -- least
    false, -32768, -2147483648, -9223372036854775808, 0, '-3.4028235e38', '-1.7976931348623157e308',
    -9999999999.99, -9999999999999999999999999999.9999999999, -9999900, -0.00999,
    -999999999999999999999999999999999999999999999.99999, -1e-16383, '-92233720368547758.08',
    '', '', '', '', '', '', '4713-01-01 BC', '00:00', '00:00', '00:00', '00:00+15:59',
    '4713-01-01 00:00 BC', '4713-01-01 00:00 BC', '4713-01-01 00:00 BC', '4713-01-02 00:00+00 BC', '4713-01-02 00:00+00 BC',
    '-178000000 years', '00000000-0000-0000-0000-000000000000', '[]', '[]', NULL, '0.0.0.0', '0.0.0.0/0',
    '00:00:00:00:00:00', '00:00:00:00:00:00:00:00', '0', '0000000000', '', 'sad', 1, '',
    'empty', 'empty', 'empty', 'empty', 'empty', 'empty', '(0,0)', '', '0/0',
    '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}');

INSERT INTO public.golden_types VALUES (3, -- greatest
    true, 32767, 2147483647, 9223372036854775807, 4294967295, '3.4028235e38', '1.7976931348623157e308',
    9999999999.99, 9999999999999999999999999999.9999999999, 9999900, 0.00999,
    999999999999999999999999999999999999999999999.99999, (repeat('9', 131072) || '.' || repeat('9', 16383))::numeric,
    '92233720368547758.07', repeat('z', 8), repeat('z', 20), repeat('🎉é', 20000), '~', repeat('n', 63),
    decode(repeat('00ff7f80', 8000), 'hex'), '5874897-12-31', '24:00', '24:00', '24:00', '24:00-15:59',
    '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '294247-01-10 04:00:54.775806',
    '9999-12-31 23:59:59.999999+00', '9999-12-31 23:59:59+00', '178000000 years 11 mons 30 days 23:59:59.999999',
    'ffffffff-ffff-ffff-ffff-ffffffffffff', '{"a": {"b": [1, 2.50, null, true, "\u00e9🎉"]}}',
    '{"a": {"b": [1, 2.50, null, true, "é🎉"]}}', NULL, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    'ffff:ffff::/32', 'ff:ff:ff:ff:ff:ff', 'ff:ff:ff:ff:ff:ff:ff:ff', '1', '1111111111', repeat('10', 35)::varbit,
    'happy 🎉', 2147483647, 'ten chars.', '[-2147483648,2147483647)', '[-9223372036854775808,9223372036854775807)',
    '[1.5,1e50)', '[0001-01-01,9999-12-31 23:59:59.999999]', '[0001-01-01 00:00+00,9999-12-31 23:59:59.999999+00]',
    '[0001-01-01,9999-12-31)', '(1e308,-1e-300)', 'a:1A fat:2B cat', 'FFFFFFFF/FFFFFFFF',
    '{t,f,NULL}', '{-32768,32767,NULL}', '{-2147483648,2147483647,NULL}', '{-9223372036854775808,9223372036854775807,NULL}',
    '{1.5,NULL,3.4028235e38}', '{0.1,NULL,1e-300}', '{1.10,NULL,-9999999999.99}',
    ARRAY['', 'NULL', NULL, 'é🎉', '"quoted", {brace}', E'tab\tline\nback\\slash'], '{a,"b c",NULL}',
    '{ffffffff-ffff-ffff-ffff-ffffffffffff,NULL}', ARRAY['{"a": "é🎉"}', NULL, '[]']::jsonb[], '{1970-01-01,NULL,2024-02-29}',
    '{1970-01-01 00:00:00.000001,NULL}', '{1970-01-01 00:00:00.000001+00,NULL}', '{10.0.0.1/8,NULL}', ARRAY['sad', NULL, 'happy 🎉']::public.mood[]);

INSERT INTO public.golden_types VALUES (4, -- zero, one, the epoch
    true, 0, 0, 0, 1, '0', '0', 0, 0, 0, 0, 0, 0, 0, ' pad', ' pad ', ' ', 'a', 'zero', '\x00', '1970-01-01',
    '00:00:01', '00:00:00.001', '00:00:00.000001', '12:34:56.000001+05:30', '1970-01-01', '1970-01-01 00:00:00.001',
    '1970-01-01 00:00:00.000001', '1970-01-01 00:00:00.000001+00', '1970-01-01 00:00:00+00', '0',
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'null', 'null', NULL, '192.168.1.5/24', '192.168.1.0/24',
    '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '1', '0000000001', '001', 'ok', 7, ' pad ', '[1,2)', '(,5]', '[0.10,)', '(,)',
    '["1970-01-01 00:00:00.000001+00",)', '[2024-02-29,2024-03-01]', '(1.5,-2)', 'the:1 cat:2', '16/B374D848',
    '{t}', '{0}', '{0}', '{0}', '{0}', '{0}', '{0}', '{""}', '{x}', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{null}',
    '{0001-01-01}', '{1900-01-01 00:00:00}', '{1900-01-01 00:00:00+00}', '{::1}', '{ok}');

-- Not-a-number and the two infinities, where the type has them.
INSERT INTO public.golden_types (id, real, double, numeric_any, date, timestamp_6, timestamptz, daterange, tsrange, real_array, double_array)
VALUES (5, 'NaN', 'NaN', 'NaN', 'infinity', 'infinity', 'infinity', '[2024-01-01,infinity)', '[2024-01-01,infinity)', '{NaN}', '{NaN,Infinity}'),
       (6, 'Infinity', 'Infinity', 'Infinity', '-infinity', '-infinity', '-infinity', NULL, NULL, '{-Infinity}', '{-Infinity}'),
       (7, '-Infinity', '-Infinity', '-Infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
       (8, '-0', '-0', '1.500', NULL, NULL, NULL, NULL, NULL, '{-0}', '{-0}'),
       (9, '1e-45', '5e-324', '1e20', NULL, NULL, NULL, NULL, NULL, '{1e-45,1.1}', '{5e-324,0.30000000000000004}'),
       (10, '123456.79', '123456789012345680', '0.000001', NULL, NULL, NULL, NULL, NULL, '{1e7,12345678}', '{1e15,1e16,1e22}');

-- Dates before Christ, before the Gregorian calendar, around daylight-saving changes, and the year 1900.
INSERT INTO public.golden_types (id, date, timestamp_0, timestamp_3, timestamp_6, timestamptz, timestamptz_0, timetz, "interval")
VALUES (11, '0044-03-15 BC', '0044-03-15 12:00 BC', '0044-03-15 12:00 BC', '0044-03-15 12:00:00.000001 BC', '0044-03-15 12:00:00.000001+00 BC', '0044-03-15 12:00+00 BC', '00:00+00', '-1 years -2 mons'),
       (12, '1582-10-04', '1582-10-04 12:00', '1582-10-14 12:00', '1582-10-15 12:00:00.5', '1582-10-04 12:00+00', '1500-01-01 12:00+00', '23:59:59.999999-00:30:17', '1 day -00:00:00.000001'),
       (13, '1899-12-31', '1899-12-31', '1899-12-31', '1899-12-31 23:59:59.999999', '1899-12-31 23:59:59.999999+00', '1899-12-31 00:00+00', '02:30+02', '1.5 seconds'),
       (14, '2024-03-31', '2024-03-31 02:30', '2024-03-31 02:30', '2024-03-31 02:30', '2024-03-31 01:00+00', '2024-03-31 02:30+01', '02:30+01', '100 hours'),
       (15, '2024-10-27', '2024-10-27 02:30', '2024-10-27 02:30', '2024-10-27 02:30', '2024-10-27 00:30+00', '2024-10-27 02:30+02', '02:30:00.5+02', '1 mon 1 day -1 hour'),
       (16, '0001-01-01', '0001-01-01', '0001-01-01', '0001-01-01', '0001-01-01 00:00+00', '0001-01-01 00:00+00', NULL, '-00:00:01'),
       (17, '10000-01-01', '10000-01-01', '10000-01-01', '10000-01-01', '10000-01-01 00:00+00', '10000-01-01 00:00+00', NULL, '3 weeks');

INSERT INTO public.golden_types (id, numeric_array, money_array, time_array, interval_array, varbit_array, lsn_array,
                                 multirange, jsonpath, price, raw, date_array, timestamp_array, timestamptz_array,
                                 integer_array, bit_10, varbit)
VALUES (18, '{1.5,NULL}', '{1.5,NULL,-3}', '{12:00,24:00,NULL}', '{1 day,NULL}', '{001,NULL}', '{0/1,NULL}', '{[1,3),[5,7)}',
        '$.a[*] ? (@ > 1)', 1.5, '\x0102', '{0044-03-15 BC,infinity,-infinity,10000-01-01}',
        '{0044-03-15 12:00 BC,infinity,-infinity,10000-01-01}', '{0044-03-15 12:00+00 BC,infinity}', '[0:1]={1,2}', '1000000000', '1');

INSERT INTO public.golden_types (id, xid, xid8, txid_snapshot, pg_snapshot, tsquery, int8multirange, nummultirange,
                                 tsmultirange, tstzmultirange, datemultirange)
VALUES (19, '4294967295', '18446744073709551615', '10:20:10,14,15', '10:20:10,14,15', 'fat & (rat | !cat:B)',
        '{[-9223372036854775808,3),[5,9223372036854775807)}', '{[1.50,2.5),(3,)}',
        '{[1970-01-01,"1970-01-01 00:00:00.000001"),[2024-01-01,)}', '{[1970-01-01 00:00+00,2024-02-29 12:00+00]}',
        '{[2024-01-01,2024-02-29]}'),
       (20, '0', '0', '1:1:', '1:1:', '', '{}', '{}', '{}', '{}', '{}');

-- Intervals that the driver's own class reads as zero, or refuses: infinite ones, and more hours than an integer holds.
INSERT INTO public.golden_types (id, "interval", interval_array)
VALUES (21, 'infinity', '{infinity,-infinity,NULL}'), (22, '-infinity', '{2562047788:00:54.775807}'),
       (23, '2562047788:00:54.775807', '{00:00:00}'), (24, '-2562047788:00:54.775807', '{-1 days +01:00:00}');

-- NULL in a nullable column that has a DEFAULT stays NULL, whatever its type; a default is filled in only where the
-- INSERT leaves it out. Each default is a value of the table above, but that xml has none.
CREATE TABLE public.golden_defaults (LIKE public.golden_types INCLUDING INDEXES, date_now date DEFAULT current_date);
DO $$
DECLARE
    one text;
    value text;
BEGIN
    FOR one IN SELECT column_name FROM information_schema.columns
               WHERE table_name = 'golden_types' AND column_name NOT IN ('id', 'xml') LOOP
        EXECUTE format('SELECT %1$I::text FROM golden_types WHERE %1$I IS NOT NULL ORDER BY id NOT IN (4, 18, 19), id LIMIT 1', one)
            INTO STRICT value;
        EXECUTE format('ALTER TABLE golden_defaults ALTER %I SET DEFAULT %L', one, value);
    END LOOP;
END $$;
ALTER TABLE public.golden_defaults
    ALTER timestamp_6 SET DEFAULT now(), ALTER timestamptz SET DEFAULT now(), ALTER uuid SET DEFAULT gen_random_uuid();
INSERT INTO public.golden_defaults SELECT *, NULL FROM public.golden_types WHERE id = 1; -- all NULL
INSERT INTO public.golden_defaults (id) VALUES (2);

-- The value comes from the row: identity, domains, and defaults that are functions and NOT NULL. The last columns have
-- values whose text depends on settings, or whose type looks like an array; an update of other columns keeps them.
CREATE TYPE public._status AS ENUM ('a', 'b');
CREATE TABLE public.golden_generated (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    price       numeric(10, 2) NOT NULL DEFAULT 1.25,
    quantity    public.positive NOT NULL DEFAULT 3,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    day         date NOT NULL DEFAULT current_date,
    token       uuid NOT NULL DEFAULT gen_random_uuid(),
    length      integer NOT NULL DEFAULT length('four'),
    flag        boolean NOT NULL DEFAULT (1 = 1),
    label       public.short_text NOT NULL DEFAULT upper('label'),
    state       public._status,
    states      public._status[],
    raw         bytea,
    parts       bytea[],
    span        interval,
    forever     interval NOT NULL DEFAULT 'infinity',
    pause       interval NOT NULL DEFAULT '1 mon -01:30:00'
);
INSERT INTO public.golden_generated DEFAULT VALUES;
INSERT INTO public.golden_generated (price, quantity, length, flag, label, state, states, raw, parts, span)
VALUES (0, 1, 0, false, '', 'a', '{a,NULL}', 'abcd', ARRAY['abcd', 'hello!']::bytea[], '1 year -2 mons 3 days 04:05:06.7');

-- Types that are kept as PostgreSQL's own text, and domains over them; a path is long enough to be stored out of line.
CREATE DOMAIN public.area AS polygon;
CREATE DOMAIN public.boxes AS box[];
CREATE DOMAIN public.cash AS money;
CREATE DOMAIN public.place AS pg_lsn;
CREATE DOMAIN public.row_at AS tid;
CREATE DOMAIN public.meaning AS vector(2);
CREATE TABLE public.golden_texts (
    id              integer PRIMARY KEY,
    box             box DEFAULT '(1,1),(0,0)',
    circle          circle,
    line            line,
    lseg            lseg,
    path            path,
    polygon         polygon NOT NULL DEFAULT '((0,0),(1,1))',
    tid             tid,
    cid             cid,
    box_array       box[],
    circle_array    circle[],
    vector          vector(3) NOT NULL DEFAULT '[1,2,3]',
    halfvec         halfvec,
    area            public.area,
    areas           public.area[],
    boxes           public.boxes,
    cash            public.cash NOT NULL DEFAULT 1.5,
    place           public.place,
    row_at          public.row_at,
    meaning         public.meaning
);
INSERT INTO public.golden_texts
VALUES (1, '(1,2.5),(0,-1e300)', '<(0.1,1e16),3>', '{1,-1,0}', '[(0,0),(1,Infinity)]', '[(0,0),(1,1.5)]',
        '((0,0),(1,1),(NaN,1))', '(4294967295,65535)', '4294967295', '{(1,1),(0,0);(3,3),(2,2)}', '{"<(0,0),1>",NULL}',
        '[1,2.5,-0.001]', '[1,2]', '((0,0),(1,1.5))', '{"((0,0),(1,1))",NULL}', '{(1,1),(0,0);(3,3),(2,2)}',
        '-92233720368547758.08', 'FF/1', '(1,2)', '[1,2]'),
       (2, '(0,0),(0,0)', '<(0,0),0>', '{0,1,1e-7}', '[(1e15,1e-5),(123456789,0)]',
        (SELECT format('(%s)', string_agg(format('(%s,%s)', sqrt(n), ln(n)), ','))::path FROM generate_series(1, 3000) n),
        '((0,0))', '(0,1)', '0', '{}', '{}', '[0,0,0]', '[65504]', '((0,0))', '{}', '{}', 0, '0/0', '(0,1)', '[0,0]');
INSERT INTO public.golden_texts (id) VALUES (3);
INSERT INTO public.golden_texts (id, box) VALUES (4, NULL);

-- Values that no lake type can hold: each stops its own table, with a message.
CREATE TABLE public.unfit_numeric (id integer PRIMARY KEY, price numeric(10, 2));
INSERT INTO public.unfit_numeric VALUES (1, 'NaN');
CREATE TABLE public.unfit_array (id integer PRIMARY KEY, grid integer[]);
INSERT INTO public.unfit_array VALUES (1, '{{1,2},{3,4}}');
CREATE TABLE public.unfit_timestamp (id integer PRIMARY KEY, at timestamp);
INSERT INTO public.unfit_timestamp VALUES (1, '294276-12-31 23:59:59.999999');
