"""What `nexus doctor` asks each product: bounded in time, and nothing is changed."""
