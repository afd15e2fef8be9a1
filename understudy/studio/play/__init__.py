"""A person against a policy, or two policies before a person's eyes, in a process of their own."""
