"""What a tool is, and the tables that it builds."""
