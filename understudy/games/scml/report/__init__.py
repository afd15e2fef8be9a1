"""What people see of SCML: panels, and a page that shows a world day by day."""
