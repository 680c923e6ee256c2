"""Mechanisms in maximal coordinates: six coordinates a body, joints and contacts as explicit constraints."""
