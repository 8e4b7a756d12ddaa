"""The same work for this product and for what people use today, and the table that it gives."""
