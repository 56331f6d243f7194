"""Program memory: the program of a request, records for scripts, and the payload of our page."""
