"""The four layers of HRL-XF: safety and baseline, daily goals, offers, priorities."""
