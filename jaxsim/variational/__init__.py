"""Galerkin variational integrators of any order in linear time (Fan, Schultz and Murphey 2018)."""
