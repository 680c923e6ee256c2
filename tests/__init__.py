"""The tests mirror the package; ``oracles`` compares with other engines, ``physics`` names laws."""
