"""What a person asks for: forms to commands, commands to jobs, one after the other."""
