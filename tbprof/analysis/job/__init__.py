"""The steps of all hosts of a job: aligned, averaged, compared.

Outliers, stragglers, coupling of workers, and what threads did in time that nothing covers.
"""
