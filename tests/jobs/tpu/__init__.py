"""Jobs on TPUs: what can vary, their program, when what runs, and the traces of cores and hosts."""
