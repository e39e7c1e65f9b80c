"""Starts the product on one machine. Standard library only: it runs before anything is installed.

Every child is tied to the life of this process, and every file lies in the checkout or the data folder.
"""
