"""What drawn traces and programs made by hand are turned into, and small runs of them."""
