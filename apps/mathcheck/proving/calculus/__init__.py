"""Inequalities of functions of real names: interval arithmetic and signs of derivatives."""
