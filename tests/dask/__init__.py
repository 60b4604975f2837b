"""`symc.dask`, and functions in the processes of pools."""
