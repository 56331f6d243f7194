"""What a view shows, cut into tiles and encoded for browsers."""
