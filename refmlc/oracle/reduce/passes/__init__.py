"""Ways to make a subject smaller, one matter in each file; `order` says which come first."""
