"""Claims: permits for due invoices, one for each customer who can be mailed now."""
