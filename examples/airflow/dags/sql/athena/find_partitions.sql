MSCK REPAIR TABLE lakehouse.sales_by_category
