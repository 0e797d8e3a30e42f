-- Northwind in the shape that users know, and an outbox: one row per order, written by triggers.
CREATE TABLE IF NOT EXISTS public.categories (
    category_id   smallint PRIMARY KEY,
    category_name varchar(15) NOT NULL,
    description   text,
    picture       bytea
);

CREATE TABLE IF NOT EXISTS public.suppliers (
    supplier_id   smallint PRIMARY KEY,
    company_name  varchar(40) NOT NULL,
    contact_name  varchar(30),
    contact_title varchar(30),
    address       varchar(60),
    city          varchar(15),
    region        varchar(15),
    postal_code   varchar(10),
    country       varchar(15),
    phone         varchar(24),
    fax           varchar(24),
    homepage      text
);

CREATE TABLE IF NOT EXISTS public.products (
    product_id        smallint PRIMARY KEY,
    product_name      varchar(40) NOT NULL,
    supplier_id       smallint REFERENCES public.suppliers,
    category_id       smallint REFERENCES public.categories,
    quantity_per_unit varchar(20),
    unit_price        real,
    units_in_stock    smallint,
    units_on_order    smallint,
    reorder_level     smallint,
    discontinued      integer NOT NULL
);

CREATE TABLE IF NOT EXISTS public.customers (
    customer_id   bpchar PRIMARY KEY,
    company_name  varchar(40) NOT NULL,
    contact_name  varchar(30),
    contact_title varchar(30),
    address       varchar(60),
    city          varchar(15),
    region        varchar(15),
    postal_code   varchar(10),
    country       varchar(15),
    phone         varchar(24),
    fax           varchar(24)
);

CREATE TABLE IF NOT EXISTS public.employees (
    employee_id       smallint PRIMARY KEY,
    last_name         varchar(20) NOT NULL,
    first_name        varchar(10) NOT NULL,
    title             varchar(30),
    title_of_courtesy varchar(25),
    birth_date        date,
    hire_date         date,
    address           varchar(60),
    city              varchar(15),
    region            varchar(15),
    postal_code       varchar(10),
    country           varchar(15),
    home_phone        varchar(24),
    extension         varchar(4),
    photo             bytea,
    notes             text,
    reports_to        smallint REFERENCES public.employees,
    photo_path        varchar(255)
);

CREATE TABLE IF NOT EXISTS public.shippers (
    shipper_id   smallint PRIMARY KEY,
    company_name varchar(40) NOT NULL,
    phone        varchar(24)
);

CREATE TABLE IF NOT EXISTS public.orders (
    order_id         smallint PRIMARY KEY,
    customer_id      bpchar REFERENCES public.customers,
    employee_id      smallint REFERENCES public.employees,
    order_date       date,
    required_date    date,
    shipped_date     date,
    ship_via         smallint REFERENCES public.shippers,
    freight          real,
    ship_name        varchar(40),
    ship_address     varchar(60),
    ship_city        varchar(15),
    ship_region      varchar(15),
    ship_postal_code varchar(10),
    ship_country     varchar(15)
);

CREATE TABLE IF NOT EXISTS public.order_details (
    order_id   smallint NOT NULL REFERENCES public.orders,
    product_id smallint NOT NULL REFERENCES public.products,
    unit_price real NOT NULL,
    quantity   smallint NOT NULL,
    discount   real NOT NULL,
    PRIMARY KEY (order_id, product_id)
);

CREATE SCHEMA IF NOT EXISTS datalake;

CREATE TABLE IF NOT EXISTS datalake.cdc_events (
    order_id      smallint PRIMARY KEY,
    customer_id   bpchar NOT NULL,
    order_date    date,
    required_date date,
    shipped_date  date,
    order_items   jsonb NOT NULL
);

-- The row of one order as it is now. A deleted order keeps its row: deletes are not published.
CREATE OR REPLACE FUNCTION datalake.publish(changed smallint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO datalake.cdc_events
    SELECT one.order_id, one.customer_id, one.order_date, one.required_date, one.shipped_date, coalesce(
        (
            SELECT jsonb_agg(
                jsonb_build_object(
                    'discount', discount, 'quantity', quantity, 'unit_price', unit_price, 'product_id', product_id
                ) ORDER BY product_id
            )
            FROM public.order_details WHERE order_id = changed
        ), '[]'
    )
    FROM public.orders AS one WHERE one.order_id = changed
    ON CONFLICT (order_id) DO UPDATE SET
        customer_id = excluded.customer_id, order_date = excluded.order_date, required_date = excluded.required_date,
        shipped_date = excluded.shipped_date, order_items = excluded.order_items
$$;

CREATE OR REPLACE FUNCTION datalake.publish_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM datalake.publish(NEW.order_id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER publish_order AFTER INSERT OR UPDATE ON public.orders
    FOR EACH ROW EXECUTE FUNCTION datalake.publish_order();
CREATE OR REPLACE TRIGGER publish_order AFTER INSERT OR UPDATE ON public.order_details
    FOR EACH ROW EXECUTE FUNCTION datalake.publish_order();
