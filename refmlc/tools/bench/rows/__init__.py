"""The rows of the table, part by part: each part measures something and yields its rows."""
