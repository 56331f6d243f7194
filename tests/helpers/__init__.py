"""What tests ask with and check with: commands, pages, servers, and promises of every page."""
