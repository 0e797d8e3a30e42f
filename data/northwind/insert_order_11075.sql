-- `lake load northwind` leaves this order out, so that its arrival can be watched: four changes of one row of the outbox.
INSERT INTO public.orders
VALUES (11075, 'RICSU', 8, '1998-05-06', '1998-06-03', NULL, 2, 6.19, 'Richter Supermarkt', 'Starenweg 5', 'Genève', NULL,
    '1204', 'Switzerland');
INSERT INTO public.order_details
VALUES (11075, 2, 19, 10, 0.15), (11075, 46, 12, 30, 0.15), (11075, 76, 18, 2, 0.15);
