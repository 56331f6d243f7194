"""What the pages of compiled programs share: rates against peaks, and the texts of instructions."""
