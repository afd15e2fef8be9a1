"""Players that are part of the compiled world, each a port of an agent, faults and all."""
