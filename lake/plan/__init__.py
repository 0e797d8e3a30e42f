"""The difference between the definition and what runs, and how it is carried out."""
