"""`symc.distributed`, on two and more processes."""
