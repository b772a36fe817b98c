"""Matrix units: the forms of their instructions, who holds which element, and the products that all orders agree on."""
