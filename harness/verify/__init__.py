"""Check and sign runs: arena verify, arena sign, Run.verify, Run.sign."""
